import { type GlobalPosition, ORIGIN, type RecordedEvent } from '../../domain/event.ts';
import { type AuditLink, CHAIN_START, eventDigest, headMac, linkMac } from '../../domain/platform/audit-chain.ts';
import { streamName } from '../../domain/stream.ts';
import type { StoredHead } from '../ports/audit-chain.ts';
import type { AuditDependencies } from './audit-dependencies.ts';
import { chainAudit } from './chain-audit.ts';
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
 * difference: `edited` (an event or a link has other content), `missing` (an event or the end of the chain does not
 * exist), `reordered` (an event has another position) or `unsealed` (an event has no link).
 */
export async function verifyAudit(input: VerifyAuditInput, dependencies: AuditDependencies): Promise<AuditVerdict> {
  const { tenant, signal } = input;
  const { chain } = dependencies;
  await chainAudit({ signal }, dependencies);
  await signAudit({ everySeconds: 0 }, dependencies);
  const head = await chain.head(tenant);
  const lastSigned = head && head.signedSeq > 0 ? await chain.link(tenant, head.signedSeq) : undefined;
  const { checked, broken } = await compareWithChain({ ...input, head }, dependencies);
  return {
    ok: broken === undefined,
    checked,
    sealed_to: lastSigned?.position ?? ORIGIN,
    first_broken: broken ?? null,
  };
}

async function compareWithChain(
  { tenant, onProgress, signal, head }: VerifyAuditInput & { readonly head: StoredHead | undefined },
  dependencies: AuditDependencies,
): Promise<{ readonly checked: number; readonly broken: AuditBreak | undefined }> {
  const { eventStore, chain, key } = dependencies;
  const events = eventStore.readAll({ filter: { tenant }, ...(signal ? { signal } : {}) })[Symbol.asyncIterator]();
  let checked = 0;
  const result = (broken: AuditBreak | undefined) => ({ checked, broken });
  try {
    let previousMac = CHAIN_START;
    let seq = 0;
    let last: AuditLink | undefined;
    let event = await nextOf(events);
    for await (const link of linksOf({ tenant }, { chain })) {
      if (head && link.seq > head.seq) break;
      seq += 1;
      if (link.seq !== seq) return result(breakAt(link, 'missing'));
      if (link.mac !== linkMac(key, previousMac, link)) return result(breakAt(link, 'edited'));
      if (!event || event.position !== link.position || event.id !== link.eventId)
        return result(await classifyMismatch({ tenant, event, link }, dependencies));
      if (eventDigest(event) !== link.digest) return result(breakAt(link, 'edited'));
      if (!(await isValidSignature({ tenant, event }, dependencies))) return result(breakAt(link, 'edited'));
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

/**
 * Whether an audit signature has a valid signature and covers the links that the chain holds. True for every other event.
 */
async function isValidSignature(
  { tenant, event }: { readonly tenant: string; readonly event: RecordedEvent },
  { signer, chain }: Pick<AuditDependencies, 'signer' | 'chain'>,
): Promise<boolean> {
  if (event.type !== 'AuditSealed' || event.stream !== streamName({ category: 'audit', tenant, id: 'seals' }))
    return true;
  const { jws } = event.data;
  const range = typeof jws === 'string' ? await signer.verify(jws) : undefined;
  const link = range && (await chain.link(tenant, range.to_seq));
  return link !== undefined && range?.tenant === tenant && link.mac === range.head_mac;
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
