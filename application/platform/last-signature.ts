import type { RecordedEvent } from '../../domain/event.ts';
import { type ChainState, signatureDigest } from '../../domain/platform/audit-chain.ts';
import type { SignedRange } from '../../domain/platform/audit-events.ts';
import { streamName } from '../../domain/stream.ts';
import type { ChainSession, StoredHead } from '../ports/audit-chain.ts';
import type { AuditDependencies } from './audit-dependencies.ts';

/** The last audit signature of a tenant in the log. `range` is undefined when this installation did not make it. */
export type LastSignature = {
  readonly event: RecordedEvent;
  readonly range: SignedRange | undefined;
  /** What the next signature names as `previous`. */
  readonly digest: string;
};

/** Reads the last audit signature of a tenant from the log; undefined when there is none. */
export async function readLastSignature(
  { tenant }: { readonly tenant: string },
  { eventStore, signer }: Pick<AuditDependencies, 'eventStore' | 'signer'>,
): Promise<LastSignature | undefined> {
  const stream = streamName({ category: 'audit', tenant, id: 'seals' });
  for await (const event of eventStore.readStream(stream, { direction: 'backwards', limit: 1 })) {
    const { jws } = event.data;
    const text = typeof jws === 'string' ? jws : '';
    return { event, range: await signer.verify(text), digest: signatureDigest(text) };
  }
  return undefined;
}

/**
 * Why the chain of a tenant contradicts its last signature in the log; undefined when it does not. `head` is undefined
 * for a tenant without a chain.
 */
export async function faultOfLastSignature({
  tenant,
  head,
  state,
  session,
  last,
}: {
  readonly tenant: string;
  readonly head: StoredHead | undefined;
  readonly state: ChainState;
  readonly session: Pick<ChainSession, 'linksBetween'>;
  readonly last: LastSignature | undefined;
}): Promise<string | undefined> {
  if (!last) return head && head.signedSeq > 0 ? 'its signatures were removed from the log' : undefined;
  const { range } = last;
  if (range?.tenant !== tenant) return 'its last signature was not made with the key';
  // Signatures made before a restart of the chains say nothing about the links of today.
  if ((range.generation ?? 0) < state.generation) return undefined;
  // The chains may be older than the log, such as after a restore: they have not reached this signature yet.
  if (last.event.position > state.position && (!head || range.to_seq > head.seq)) return undefined;
  if (!head) return 'the log has signatures of a chain that does not exist';
  if (range.to_seq > head.seq) return 'it is shorter than its last signature says';
  if (range.to_seq < head.signedSeq) return 'its last signature was removed from the log';
  const [link] = await session.linksBetween(tenant, range.to_seq, range.to_seq);
  return link?.mac === range.head_mac ? undefined : 'it differs from its last signature';
}
