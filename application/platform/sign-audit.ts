import { merkleRoot } from '../../domain/platform/audit-chain.ts';
import type { AuditEvent, SignedRange } from '../../domain/platform/audit-events.ts';
import { streamName } from '../../domain/stream.ts';
import { toNewEvent } from '../handle-command.ts';
import type { ChainSession, StoredHead } from '../ports/audit-chain.ts';
import type { AuditDependencies } from './audit-dependencies.ts';

type SignAuditDependencies = Pick<AuditDependencies, 'eventStore' | 'chain' | 'signer' | 'now' | 'newId'>;

/** An audit signature is due after either limit. */
export type SignAuditInput = {
  /** Unsigned events after which a signature is due. Default: 1,000. */
  readonly everyEvents?: number;
  /**
   * Seconds since the last signature after which the next is due, when unsigned events exist. 0: sign all of them now.
   * Default: 60.
   */
  readonly everySeconds?: number;
};

/** Maximum number of links under one signature, because the Merkle tree is built in memory. */
const MAX_SIGNED = 100_000;

/**
 * Appends the audit signatures that are due to `audit-<tenant>.seals`. After a crash between the append and the update of
 * the chain's head the same links get a second signature, which is harmless.
 * @returns the number of chains that were signed
 */
export async function signAudit(
  { everyEvents = 1000, everySeconds = 60 }: SignAuditInput,
  dependencies: SignAuditDependencies,
): Promise<number> {
  return dependencies.chain.exclusively(async (session) => {
    const now = dependencies.now();
    let signed = 0;
    for (const head of await session.unsignedHeads()) {
      const age = now.getTime() - Date.parse(head.signedAt);
      if (head.unsigned < everyEvents && age < everySeconds * 1000) continue;
      await signTenant({ head, session, at: now }, dependencies);
      signed += 1;
    }
    return signed;
  });
}

async function signTenant(
  { head, session, at }: { readonly head: StoredHead; readonly session: ChainSession; readonly at: Date },
  { eventStore, signer, newId }: Pick<SignAuditDependencies, 'eventStore' | 'signer' | 'newId'>,
): Promise<void> {
  const { tenant } = head;
  const stream = streamName({ category: 'audit', tenant, id: 'seals' });
  let from = head.signedSeq + 1;
  while (from <= head.seq) {
    const to = Math.min(head.seq, from + MAX_SIGNED - 1);
    const links = await session.linksBetween(tenant, from, to);
    const [first, last] = [links[0], links.at(-1)];
    if (!first || !last) break;
    const range: SignedRange = {
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
    const signed = toNewEvent(event, {
      tenant,
      actor: { kind: 'system', id: 'audit' },
      correlationId,
      causationId: correlationId,
      now: () => at,
      newId,
    });
    await eventStore.append(stream, [signed], { expected: 'any' });
  }
  await session.putHead({ ...head, signedSeq: head.seq, unsigned: 0, signedAt: at.toISOString() });
}
