import { type GlobalPosition, ORIGIN, type RecordedEvent } from '../../domain/event.ts';
import { type AuditLink, CHAIN_START, eventDigest, headMac, linkMac } from '../../domain/platform/audit-chain.ts';
import { categoryOf } from '../../domain/stream.ts';
import type { ChainSession, StoredHead } from '../ports/audit-chain.ts';
import type { AuditDependencies } from './audit-dependencies.ts';

/** Maximum number of events of one transaction. */
const BATCH = 500;

/**
 * Adds a link to the tenants' audit chains for every event up to the current head of the log.
 * @returns the position up to which the log is chained
 */
export async function chainAudit(
  { signal }: { readonly signal?: AbortSignal | undefined },
  { eventStore, chain, key, now }: Pick<AuditDependencies, 'eventStore' | 'chain' | 'key' | 'now'>,
): Promise<GlobalPosition> {
  const until = await eventStore.head();
  for (;;) {
    signal?.throwIfAborted();
    const { position, read } = await chain.exclusively(async (session) => {
      const events: RecordedEvent[] = [];
      for await (const event of eventStore.readAll({ after: session.position, limit: BATCH })) events.push(event);
      const last = events.at(-1);
      if (last) await addLinks({ session, events, position: last.position }, { key, now });
      return { position: last?.position ?? session.position, read: events.length };
    });
    if (position >= until || read < BATCH) return position;
  }
}

async function addLinks(
  {
    session,
    events,
    position,
  }: { readonly session: ChainSession; readonly events: readonly RecordedEvent[]; readonly position: GlobalPosition },
  { key, now }: Pick<AuditDependencies, 'key' | 'now'>,
): Promise<void> {
  const heads = new Map(await session.heads([...new Set(events.map(({ metadata }) => metadata.tenant))]));
  const links: AuditLink[] = [];
  for (const event of events) {
    const { tenant } = event.metadata;
    const head = heads.get(tenant) ?? startOfChain(tenant, { now });
    const unsigned = {
      tenant,
      seq: head.seq + 1,
      position: event.position,
      eventId: event.id,
      digest: eventDigest(event),
    };
    const link = { ...unsigned, mac: linkMac(key, head.mac, unsigned) };
    links.push(link);
    // Audit signatures are events too. They do not count as unsigned, because each would then require another one.
    heads.set(tenant, {
      ...head,
      seq: link.seq,
      position: link.position,
      mac: link.mac,
      unsigned: head.unsigned + (categoryOf(event.stream) === 'audit' ? 0 : 1),
    });
  }
  await session.add(
    links,
    [...heads.values()].map((head) => ({ ...head, headMac: headMac(key, head) })),
    position,
  );
}

function startOfChain(tenant: string, { now }: Pick<AuditDependencies, 'now'>): StoredHead {
  return {
    tenant,
    seq: 0,
    position: ORIGIN,
    mac: CHAIN_START,
    headMac: '',
    signedSeq: 0,
    unsigned: 0,
    signedAt: now().toISOString(),
  };
}
