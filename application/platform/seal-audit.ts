import type { AuditLink } from '../../domain/platform/audit-chain.ts';
import { CHAIN_START, eventDigest, headMac, linkMac, merkleRoot } from '../../domain/platform/audit-chain.ts';
import type { AuditEvent, SealedStretch } from '../../domain/platform/audit-events.ts';
import type { GlobalPosition, RecordedEvent } from '../../domain/event.ts';
import { ORIGIN } from '../../domain/event.ts';
import { categoryOf, streamName } from '../../domain/stream.ts';
import type { AuditChain, ChainSession, SealSigner, StoredHead } from '../ports/audit-chain.ts';
import type { EventStore } from '../ports/event-store.ts';

export type AuditDependencies = {
  readonly eventStore: EventStore;
  readonly chain: AuditChain;
  readonly signer: SealSigner;
  /** `SVC_AUDIT_HMAC_KEY`. */
  readonly key: Uint8Array;
  readonly now: () => Date;
  readonly newId: () => string;
};

export type SealOptions = {
  /** A seal is due after so many events … */
  readonly everyEvents?: number;
  /** … or so many seconds after the last one, when there is anything new. 0: whatever is new is sealed now. */
  readonly everySeconds?: number;
};

/** Events of one transaction. */
const BATCH = 500;
/** Most events under one seal: its tree is made in memory. */
const MOST_SEALED = 100_000;

/** Chains what the log holds beyond the chains, up to its head at the call. @returns how far the log is chained */
export async function chainAudit({ eventStore, chain, key, now }: AuditDependencies, signal?: AbortSignal): Promise<GlobalPosition> {
  const until = await eventStore.head();
  for (;;) {
    signal?.throwIfAborted();
    const { position, read } = await chain.exclusively(async (session) => {
      const events: RecordedEvent[] = [];
      for await (const event of eventStore.readAll({ after: session.position, limit: BATCH })) events.push(event);
      const last = events.at(-1);
      if (last) await addLinks(session, events, last.position, { key, now });
      return { position: last?.position ?? session.position, read: events.length };
    });
    if (position >= until || read < BATCH) return position;
  }
}

async function addLinks(session: ChainSession, events: readonly RecordedEvent[], position: GlobalPosition, { key, now }: Pick<AuditDependencies, 'key' | 'now'>): Promise<void> {
  const heads = new Map(await session.heads([...new Set(events.map(({ metadata }) => metadata.tenant))]));
  const links: AuditLink[] = [];
  for (const event of events) {
    const { tenant } = event.metadata;
    const head = heads.get(tenant) ?? { tenant, seq: 0, position: ORIGIN, mac: CHAIN_START, headMac: '', sealedSeq: 0, unsealed: 0, sealedAt: now().toISOString() };
    const bare = { tenant, seq: head.seq + 1, position: event.position, eventId: event.id, digest: eventDigest(event) };
    const link = { ...bare, mac: linkMac(key, head.mac, bare) };
    links.push(link);
    // A seal is not worth a seal: else each would call for the next.
    heads.set(tenant, { ...head, seq: link.seq, position: link.position, mac: link.mac, unsealed: head.unsealed + (categoryOf(event.stream) === 'audit' ? 0 : 1) });
  }
  await session.add(links, [...heads.values()].map((head) => ({ ...head, headMac: headMac(key, head) })), position);
}

/**
 * Makes the seals that are due: signed events in `audit-<tenant>.seals`, which the fan-out publishes like any other. A crash between the event and
 * the note of it makes one seal twice, which says the same.
 * @returns how many were made
 */
export async function sealAudit(dependencies: AuditDependencies, { everyEvents = 1000, everySeconds = 60 }: SealOptions = {}): Promise<number> {
  return dependencies.chain.exclusively(async (session) => {
    const now = dependencies.now();
    let made = 0;
    for (const head of await session.unsealedHeads()) {
      const age = now.getTime() - Date.parse(head.sealedAt);
      if (head.unsealed < everyEvents && age < everySeconds * 1000) continue;
      await sealTenant(head, session, now, dependencies);
      made += 1;
    }
    return made;
  });
}

async function sealTenant(head: StoredHead, session: ChainSession, now: Date, { eventStore, signer, newId }: AuditDependencies): Promise<void> {
  let from = head.sealedSeq + 1;
  while (from <= head.seq) {
    const to = Math.min(head.seq, from + MOST_SEALED - 1);
    const links = await session.stretch(head.tenant, from, to);
    const [first, last] = [links[0], links.at(-1)];
    if (!first || !last) break;
    const stretch: SealedStretch = {
      tenant: head.tenant,
      from_seq: from,
      to_seq: to,
      from_position: first.position,
      to_position: last.position,
      head_mac: last.mac,
      merkle_root: merkleRoot(links.map(({ digest }) => digest)),
    };
    from = to + 1;
    const event: AuditEvent = { type: 'AuditSealed', data: { ...stretch, jws: await signer.sign(stretch, now) } };
    const correlation = newId();
    const metadata = { tenant: head.tenant, actor: { kind: 'system', id: 'audit' }, $correlationId: correlation, $causationId: correlation, occurred_at: now.toISOString(), schema_version: 1 } as const;
    await eventStore.append(streamName({ category: 'audit', tenant: head.tenant, id: 'seals' }), [{ id: newId(), ...event, metadata }], { expected: 'any' });
  }
  await session.putHead({ ...head, sealedSeq: head.seq, unsealed: 0, sealedAt: now.toISOString() });
}
