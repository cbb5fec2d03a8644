import { merkleRoot } from '../../domain/platform/audit-chain.ts';
import type { AuditEvent, SealedRange } from '../../domain/platform/audit-events.ts';
import { streamName } from '../../domain/stream.ts';
import { toNewEvent } from '../handle-command.ts';
import type { ChainSession, StoredHead } from '../ports/audit-chain.ts';
import type { AuditDependencies } from './audit-dependencies.ts';

type SealAuditDependencies = Pick<AuditDependencies, 'eventStore' | 'chain' | 'signer' | 'now' | 'newId'>;

/** An audit seal is due after either limit. */
export type SealAuditInput = {
  /** Unsealed events after which a seal is due. Default: 1,000. */
  readonly everyEvents?: number;
  /**
   * Seconds since the last seal after which a seal is due, when unsealed events exist. 0: seal all unsealed events now.
   * Default: 60.
   */
  readonly everySeconds?: number;
};

/** Maximum number of links under one seal, because the Merkle tree is built in memory. */
const MAX_SEALED = 100_000;

/**
 * Appends the audit seals that are due to `audit-<tenant>.seals`. After a crash between the append and the update of
 * the chain's head the same links get a second seal, which is harmless.
 * @returns the number of chains that were sealed
 */
export async function sealAudit(
  { everyEvents = 1000, everySeconds = 60 }: SealAuditInput,
  dependencies: SealAuditDependencies,
): Promise<number> {
  return dependencies.chain.exclusively(async (session) => {
    const now = dependencies.now();
    let sealed = 0;
    for (const head of await session.unsealedHeads()) {
      const age = now.getTime() - Date.parse(head.sealedAt);
      if (head.unsealed < everyEvents && age < everySeconds * 1000) continue;
      await sealTenant({ head, session, at: now }, dependencies);
      sealed += 1;
    }
    return sealed;
  });
}

async function sealTenant(
  { head, session, at }: { readonly head: StoredHead; readonly session: ChainSession; readonly at: Date },
  { eventStore, signer, newId }: Pick<SealAuditDependencies, 'eventStore' | 'signer' | 'newId'>,
): Promise<void> {
  const { tenant } = head;
  const stream = streamName({ category: 'audit', tenant, id: 'seals' });
  let from = head.sealedSeq + 1;
  while (from <= head.seq) {
    const to = Math.min(head.seq, from + MAX_SEALED - 1);
    const links = await session.linksBetween(tenant, from, to);
    const [first, last] = [links[0], links.at(-1)];
    if (!first || !last) break;
    const range: SealedRange = {
      tenant,
      from_seq: from,
      to_seq: to,
      from_position: first.position,
      to_position: last.position,
      head_mac: last.mac,
      merkle_root: merkleRoot(links.map(({ digest }) => digest)),
    };
    from = to + 1;
    const event: AuditEvent = { type: 'AuditSealed', data: { ...range, jws: await signer.sign(range, at) } };
    const correlationId = newId();
    const sealed = toNewEvent(event, {
      tenant,
      actor: { kind: 'system', id: 'audit' },
      correlationId,
      causationId: correlationId,
      now: () => at,
      newId,
    });
    await eventStore.append(stream, [sealed], { expected: 'any' });
  }
  await session.putHead({ ...head, sealedSeq: head.seq, unsealed: 0, sealedAt: at.toISOString() });
}
