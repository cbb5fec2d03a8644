import { type GlobalPosition, ORIGIN, type RecordedEvent } from '../../domain/event.ts';
import {
  ALL_CHAINS,
  type AuditLink,
  type ChainState,
  EMPTY_CHAINS,
  chainStart,
  eventDigest,
  headMac,
  linkMac,
  merkleRoot,
  signatureDigest,
  stateMac,
} from '../../domain/platform/audit-chain.ts';
import type { SignedRange } from '../../domain/platform/audit-events.ts';
import { streamName } from '../../domain/stream.ts';
import type { StoredHead } from '../ports/audit-chain.ts';
import type { AuditDependencies } from './audit-dependencies.ts';
import { chainAudit } from './chain-audit.ts';
import { ChainsStopped } from './load-chains.ts';
import { signAudit } from './sign-audit.ts';

/** The first event at which the log differs from the audit chain. */
export type AuditBreak = {
  readonly position: GlobalPosition;
  readonly event_id: string;
  readonly kind: 'edited' | 'missing' | 'reordered' | 'unsealed';
};

export type AuditVerdict = {
  readonly ok: boolean;
  /** Number of events that match the chain. */
  readonly checked: number;
  /** Position up to which audit signatures cover the log. */
  readonly sealed_to: GlobalPosition;
  readonly first_broken: AuditBreak | null;
};

export type VerifyAuditInput = {
  readonly tenant: string;
  readonly onProgress?: (checked: number, total: number) => void;
  readonly signal?: AbortSignal;
};

const PAGE = 1000;

/**
 * Chains and signs the log up to its head, then compares the tenant's events with its audit chain and reports the first
 * difference: `edited` (an event, a link, a signature or the state of the chains has other content), `missing` (an
 * event or the end of the chain does not exist, or the chain was set to an earlier state), `reordered` (an event
 * has another position) or `unsealed` (an event has no link).
 */
export async function verifyAudit(input: VerifyAuditInput, dependencies: AuditDependencies): Promise<AuditVerdict> {
  const { tenant, signal } = input;
  const { chain } = dependencies;
  try {
    await chainAudit({ signal }, dependencies);
    await signAudit({ everySeconds: 0 }, dependencies);
  } catch (error) {
    // The comparison says more about what was changed.
    if (!(error instanceof ChainsStopped)) throw error;
  }
  const state = await readState(dependencies);
  const head = await chain.head(tenant);
  const lastSigned = head && head.signedSeq > 0 ? await chain.link(tenant, head.signedSeq) : undefined;
  const { checked, broken, last } = await compareWithChain(
    { ...input, head, generation: state?.generation ?? 0 },
    dependencies,
  );
  const found = broken ?? (await breakOfState({ tenant, state, last }, dependencies));
  return {
    ok: found === undefined,
    checked,
    sealed_to: lastSigned?.position ?? ORIGIN,
    first_broken: found ?? null,
  };
}

/** The common state of the chains; undefined when this service did not write it. */
async function readState({ chain, key }: Pick<AuditDependencies, 'chain' | 'key'>): Promise<ChainState | undefined> {
  const stored = await chain.stored();
  if (stored.kind === 'none') return EMPTY_CHAINS;
  return stored.kind === 'stored' && stateMac(key, stored.state) === stored.mac ? stored.state : undefined;
}

/** What the state says about the chain of a tenant whose events and links match. */
async function breakOfState(
  {
    tenant,
    state,
    last,
  }: { readonly tenant: string; readonly state: ChainState | undefined; readonly last: AuditLink | undefined },
  { eventStore, chain }: Pick<AuditDependencies, 'eventStore' | 'chain'>,
): Promise<AuditBreak | undefined> {
  const end = { position: last?.position ?? ORIGIN, event_id: last?.eventId ?? '' };
  if (!state) return { ...end, kind: 'edited' };
  if (Object.hasOwn(state.stopped, tenant) || Object.hasOwn(state.stopped, ALL_CHAINS))
    return { ...end, kind: 'missing' };
  // A position without an event: the event was removed before it had a link, or together with it.
  if (!eventStore.capabilities.gaplessPositions || state.events === Number(state.position)) return undefined;
  const gap = await chain.firstGap(state.position);
  return { position: gap ?? state.position, event_id: '', kind: 'missing' };
}

type ComparisonInput = VerifyAuditInput & {
  readonly head: StoredHead | undefined;
  readonly generation: number;
};
type Comparison = {
  readonly checked: number;
  readonly broken: AuditBreak | undefined;
  /** The last link that was compared. */
  readonly last: AuditLink | undefined;
};

async function compareWithChain(
  { tenant, onProgress, signal, head, generation }: ComparisonInput,
  dependencies: AuditDependencies,
): Promise<Comparison> {
  const { eventStore, chain, key } = dependencies;
  const events = eventStore.readAll({ filter: { tenant }, ...(signal ? { signal } : {}) })[Symbol.asyncIterator]();
  let checked = 0;
  let last: AuditLink | undefined;
  const result = (broken: AuditBreak | undefined): Comparison => ({ checked, broken, last });
  try {
    let previousMac = chainStart(generation);
    let seq = 0;
    let signature: CheckedSignature | undefined;
    let event = await nextOf(events);
    for await (const link of linksOf({ tenant }, { chain })) {
      if (head && link.seq > head.seq) break;
      seq += 1;
      if (link.seq !== seq) return result(breakAt(link, 'missing'));
      if (link.mac !== linkMac(key, previousMac, link)) return result(breakAt(link, 'edited'));
      if (!event || event.position !== link.position || event.id !== link.eventId)
        return result(await classifyMismatch({ tenant, event, link }, dependencies));
      if (eventDigest(event) !== link.digest) return result(breakAt(link, 'edited'));
      if (isSignature({ tenant, event })) {
        const jws = typeof event.data['jws'] === 'string' ? event.data['jws'] : '';
        const range = await dependencies.signer.verify(jws);
        if (range?.tenant !== tenant) return result(breakAt(link, 'edited'));
        if ((range.generation ?? 0) >= generation) {
          if (!(await continues({ range, before: signature, seq, generation }, dependencies)))
            return result(breakAt(link, 'edited'));
          signature = { range, digest: signatureDigest(jws) };
        }
      }
      checked += 1;
      if (checked % PAGE === 0) onProgress?.(checked, head?.seq ?? checked);
      previousMac = link.mac;
      last = link;
      event = await nextOf(events);
    }
    onProgress?.(checked, checked);
    if (head && (seq < head.seq || head.headMac !== headMac(key, head) || head.mac !== previousMac))
      return result({ position: last?.position ?? ORIGIN, event_id: last?.eventId ?? '', kind: 'missing' });
    // With a head, later events were appended after the head was read; the next run covers them.
    if (!head && event) return result({ position: event.position, event_id: event.id, kind: 'unsealed' });
    return result(undefined);
  } finally {
    await events.return?.();
  }
}

type CheckedSignature = { readonly range: SignedRange; readonly digest: string };

function isSignature({ tenant, event }: { readonly tenant: string; readonly event: RecordedEvent }): boolean {
  return event.type === 'AuditSealed' && event.stream === streamName({ category: 'audit', tenant, id: 'seals' });
}

/**
 * Whether a signature continues after the one before and covers the links that the chain has. Signatures of earlier
 * builds have no number, and after a crash two of them may cover the same links.
 */
async function continues(
  {
    range,
    before,
    seq,
    generation,
  }: {
    readonly range: SignedRange;
    readonly before: CheckedSignature | undefined;
    /** Sequence number of the link of the signature. */
    readonly seq: number;
    readonly generation: number;
  },
  { chain }: Pick<AuditDependencies, 'chain'>,
): Promise<boolean> {
  const next = (before?.range.to_seq ?? 0) + 1;
  if (range.number === undefined) {
    if (before?.range.number !== undefined || range.from_seq > next) return false;
  } else if (
    range.number !== (before?.range.number ?? 0) + 1 ||
    range.previous !== (before?.digest ?? '') ||
    range.from_seq !== next ||
    range.generation !== generation
  )
    return false;
  if (range.to_seq >= seq) return false;
  const links = await chain.linksBetween(range.tenant, range.from_seq, range.to_seq);
  const [first, last] = [links[0], links.at(-1)];
  return (
    links.length === range.to_seq - range.from_seq + 1 &&
    first?.position === range.from_position &&
    last?.position === range.to_position &&
    last.mac === range.head_mac &&
    merkleRoot(links.map(({ digest }) => digest)) === range.merkle_root
  );
}

/** Classifies a link whose event is not the next event of the log. */
async function classifyMismatch(
  {
    tenant,
    event,
    link,
  }: { readonly tenant: string; readonly event: RecordedEvent | undefined; readonly link: AuditLink },
  { eventStore }: Pick<AuditDependencies, 'eventStore'>,
): Promise<AuditBreak> {
  const found = await eventStore.findEvent(link.eventId);
  if (!found || found.metadata.tenant !== tenant) return breakAt(link, found ? 'edited' : 'missing');
  if (found.position !== link.position) return breakAt(link, 'reordered');
  // The event of the link is at its position, so the event read before it has no link.
  return event ? { position: event.position, event_id: event.id, kind: 'unsealed' } : breakAt(link, 'missing');
}

async function nextOf(events: AsyncIterator<RecordedEvent>): Promise<RecordedEvent | undefined> {
  const next = await events.next();
  return next.done === true ? undefined : next.value;
}

async function* linksOf(
  { tenant }: Pick<VerifyAuditInput, 'tenant'>,
  { chain }: Pick<AuditDependencies, 'chain'>,
): AsyncIterable<AuditLink> {
  let after = 0;
  for (;;) {
    const page = await chain.links(tenant, after, PAGE);
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.seq;
  }
}

function breakAt({ position, eventId }: AuditLink, kind: AuditBreak['kind']): AuditBreak {
  return { position, event_id: eventId, kind };
}
