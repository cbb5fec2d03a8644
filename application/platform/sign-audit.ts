import {
  type ChainState,
  headMac,
  merkleRoot,
  replaceInSum,
  signatureDigest,
  stateMac,
} from '../../domain/platform/audit-chain.ts';
import type { AuditEvent, SignedRange } from '../../domain/platform/audit-events.ts';
import { streamName } from '../../domain/stream.ts';
import { toNewEvent } from '../handle-command.ts';
import type { ChainSession, StoredHead } from '../ports/audit-chain.ts';
import type { AuditDependencies } from './audit-dependencies.ts';
import { type LastSignature, faultOfLastSignature, readLastSignature } from './last-signature.ts';
import { faultOfHead, loadChains } from './load-chains.ts';

type SignAuditDependencies = Pick<AuditDependencies, 'eventStore' | 'chain' | 'signer' | 'key' | 'now' | 'newId'>;

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
 * Appends the audit signatures that are due to `audit-<tenant>.seals`. Each names its number and the one before. After
 * a crash between the append and the update of the chain's head the next run continues after the appended signature. A
 * chain that contradicts its last signature is stopped.
 * @returns the number of chains that were signed
 * @throws ChainsStopped when the state of all chains is not as this service wrote it
 */
export async function signAudit(
  { everyEvents = 1000, everySeconds = 60 }: SignAuditInput,
  dependencies: SignAuditDependencies,
): Promise<number> {
  const { chain, key } = dependencies;
  return chain.exclusively(async (session) => {
    const now = dependencies.now();
    const opened = await loadChains({ session }, dependencies);
    const due = (await session.unsignedHeads()).filter(
      (head) =>
        !Object.hasOwn(opened.stopped, head.tenant) &&
        (head.unsigned >= everyEvents || now.getTime() - Date.parse(head.signedAt) >= everySeconds * 1000),
    );
    if (due.length === 0) return 0;
    // The links must be on disk first: after a crash of the server no signature may cover lost links.
    await chain.flush();
    let state = opened;
    let signed = 0;
    for (const head of due) {
      const last = await readLastSignature(head, dependencies);
      const fault =
        faultOfHead({ head }, dependencies) ??
        (await faultOfLastSignature({ tenant: head.tenant, head, state, session, last }));
      if (fault !== undefined) {
        state = { ...state, stopped: { ...state.stopped, [head.tenant]: fault } };
        continue;
      }
      const after = await signTenant({ head, last, state, session, at: now }, dependencies);
      state = { ...state, headsSum: replaceInSum(key, state.headsSum, { removed: [head], added: [after] }) };
      signed += 1;
    }
    await session.putState(state, stateMac(key, state));
    return signed;
  });
}

async function signTenant(
  {
    head,
    last,
    state,
    session,
    at,
  }: {
    readonly head: StoredHead;
    readonly last: LastSignature | undefined;
    readonly state: ChainState;
    readonly session: ChainSession;
    readonly at: Date;
  },
  { eventStore, signer, key, newId }: Pick<SignAuditDependencies, 'eventStore' | 'signer' | 'key' | 'newId'>,
): Promise<StoredHead> {
  const { tenant } = head;
  const { generation } = state;
  const stream = streamName({ category: 'audit', tenant, id: 'seals' });
  const range = last?.range && (last.range.generation ?? 0) === generation ? last.range : undefined;
  let revision = last?.event.revision;
  let number = range?.number ?? 0;
  let previous = range ? (last?.digest ?? '') : '';
  let from = Math.max(head.signedSeq, range?.to_seq ?? 0) + 1;
  while (from <= head.seq) {
    const to = Math.min(head.seq, from + MAX_SIGNED - 1);
    const links = await session.linksBetween(tenant, from, to);
    const [first, final] = [links[0], links.at(-1)];
    if (!first || !final) break;
    number += 1;
    const signedRange: SignedRange = {
      tenant,
      from_seq: from,
      to_seq: to,
      from_position: first.position,
      to_position: final.position,
      head_mac: final.mac,
      merkle_root: merkleRoot(links.map(({ digest }) => digest)),
      number,
      previous,
      generation,
    };
    from = to + 1;
    const jws = await signer.sign(signedRange, at);
    previous = signatureDigest(jws);
    const event: AuditEvent = { type: 'AuditSealed', data: { ...signedRange, jws } };
    const correlationId = newId();
    const signed = toNewEvent(event, {
      tenant,
      actor: { kind: 'system', id: 'audit' },
      correlationId,
      causationId: correlationId,
      now: () => at,
      newId,
    });
    // The expected revision refuses a second signature with the same number.
    ({ revision } = await eventStore.append(stream, [signed], { expected: revision ?? 'no_stream' }));
  }
  const marked = { ...head, signedSeq: head.seq, unsigned: 0, signedAt: at.toISOString() };
  const after = { ...marked, headMac: headMac(key, marked) };
  await session.putHeads([after]);
  return after;
}
