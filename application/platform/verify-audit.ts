import type { AuditLink } from '../../domain/platform/audit-chain.ts';
import { CHAIN_START, eventDigest, headMac, linkMac } from '../../domain/platform/audit-chain.ts';
import type { GlobalPosition, RecordedEvent } from '../../domain/event.ts';
import { ORIGIN } from '../../domain/event.ts';
import { streamName } from '../../domain/stream.ts';
import type { AuditChain } from '../ports/audit-chain.ts';
import type { AuditDependencies } from './seal-audit.ts';
import { chainAudit, sealAudit } from './seal-audit.ts';

/** The first place where the log is not what was sealed (spec 4 A, audit). */
export type AuditBreak = { readonly position: GlobalPosition; readonly event_id: string; readonly kind: 'edited' | 'missing' | 'reordered' | 'unsealed' };

export type AuditVerdict = {
  readonly ok: boolean;
  /** Events held against the chain. */
  readonly checked: number;
  /** Position up to which the log is sealed. */
  readonly sealed_to: GlobalPosition;
  readonly first_broken: AuditBreak | null;
};

export type VerifyOptions = {
  readonly tenant: string;
  readonly onProgress?: (checked: number, total: number) => void;
  readonly signal?: AbortSignal;
};

const PAGE = 1000;

/**
 * Seals up to the head, then walks a tenant's events beside its chain and names the first difference: `edited` (an event or a link is another),
 * `missing` (an event, or the end of the chain, is gone), `reordered` (it stands at another place), `unsealed` (an event that no link knows).
 */
export async function verifyAudit(dependencies: AuditDependencies, options: VerifyOptions): Promise<AuditVerdict> {
  const { tenant, signal } = options;
  await chainAudit(dependencies, signal);
  await sealAudit(dependencies, { everySeconds: 0 });
  const head = await dependencies.chain.head(tenant);
  const sealedTo = head && head.sealedSeq > 0 ? ((await dependencies.chain.link(tenant, head.sealedSeq))?.position ?? ORIGIN) : ORIGIN;
  let checked = 0;
  const broken = await walk();
  return { ok: broken === undefined, checked, sealed_to: sealedTo, first_broken: broken ?? null };

  async function walk(): Promise<AuditBreak | undefined> {
    const { eventStore, chain, key } = dependencies;
    const events = eventStore.readAll({ filter: { tenant }, ...(signal ? { signal } : {}) })[Symbol.asyncIterator]();
    try {
      let before = CHAIN_START;
      let seq = 0;
      let last: AuditLink | undefined;
      let event = await nextOf(events);
      for await (const link of linksOf(chain, tenant)) {
        if (head && link.seq > head.seq) break;
        seq += 1;
        if (link.seq !== seq) return breakAt(link, 'missing');
        if (link.mac !== linkMac(key, before, link)) return breakAt(link, 'edited');
        if (!event || event.position !== link.position || event.id !== link.eventId) return await whereIs(event, link);
        if (eventDigest(event) !== link.digest) return breakAt(link, 'edited');
        const seal = await brokenSeal(event);
        if (seal) return seal;
        checked += 1;
        if (checked % PAGE === 0) options.onProgress?.(checked, head?.seq ?? checked);
        before = link.mac;
        last = link;
        event = await nextOf(events);
      }
      options.onProgress?.(checked, checked);
      if (head && (seq < head.seq || head.headMac !== headMac(key, head) || head.mac !== before)) {
        return { position: last?.position ?? ORIGIN, event_id: last?.eventId ?? '', kind: 'missing' };
      }
      // What was written since the head was taken is the next seal's.
      if (!head && event) return { position: event.position, event_id: event.id, kind: 'unsealed' };
      return undefined;
    } finally {
      await events.return?.();
    }
  }

  /** An event that is not where the chain knows it: it may stand elsewhere, be gone, or have another one before it. */
  async function whereIs(event: RecordedEvent | undefined, link: AuditLink): Promise<AuditBreak> {
    const found = await dependencies.eventStore.findEvent(link.eventId);
    if (!found || found.metadata.tenant !== tenant) return breakAt(link, found ? 'edited' : 'missing');
    if (found.position !== link.position) return breakAt(link, 'reordered');
    // It is where it was, so that the one before it is new.
    return event ? { position: event.position, event_id: event.id, kind: 'unsealed' } : breakAt(link, 'missing');
  }

  /** A seal must be ours and say of its stretch what the chain says. */
  async function brokenSeal(event: RecordedEvent): Promise<AuditBreak | undefined> {
    if (event.type !== 'AuditSealed' || event.stream !== streamName({ category: 'audit', tenant, id: 'seals' })) return undefined;
    const said = typeof event.data['jws'] === 'string' ? await dependencies.signer.verify(event.data['jws']) : undefined;
    const link = said && (await dependencies.chain.link(tenant, said.to_seq));
    return link && said.tenant === tenant && link.mac === said.head_mac ? undefined : { position: event.position, event_id: event.id, kind: 'edited' };
  }
}

async function nextOf(events: AsyncIterator<RecordedEvent>): Promise<RecordedEvent | undefined> {
  const next = await events.next();
  return next.done === true ? undefined : next.value;
}

async function* linksOf(chain: AuditChain, tenant: string): AsyncIterable<AuditLink> {
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
