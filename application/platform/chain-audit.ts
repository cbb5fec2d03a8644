import { type GlobalPosition, ORIGIN, type RecordedEvent } from '../../domain/event.ts';
import {
  type AuditLink,
  type ChainHead,
  type ChainState,
  chainStart,
  eventDigest,
  headMac,
  linkMac,
  replaceInSum,
  stateMac,
} from '../../domain/platform/audit-chain.ts';
import { categoryOf } from '../../domain/stream.ts';
import type { ChainSession } from '../ports/audit-chain.ts';
import type { AuditDependencies } from './audit-dependencies.ts';
import { inspectChains } from './inspect-chains.ts';
import { faultOfLastSignature, readLastSignature } from './last-signature.ts';
import { faultOfHead, loadChains } from './load-chains.ts';

type ChainAuditDependencies = Pick<AuditDependencies, 'eventStore' | 'chain' | 'key' | 'signer' | 'now'>;

export type ChainAuditInput = {
  readonly signal?: AbortSignal | undefined;
  /** Check the heads of all chains first, also of those that are not extended. Default: true. */
  readonly inspect?: boolean;
};

/**
 * A chain that is not extended. `tenant` is `ALL_CHAINS` when it is not known which chain was changed; then all chains
 * are extended, but none verifies.
 */
export type StoppedChain = { readonly tenant: string; readonly reason: string };

export type Chained = {
  /** Position up to which the log is chained. */
  readonly position: GlobalPosition;
  readonly stopped: readonly StoppedChain[];
};

/** Maximum number of events of one transaction. */
const BATCH = 500;

/**
 * Adds a link to the tenants' audit chains for every event up to the current head of the log. A chain that is not as
 * this service wrote it is stopped: it is not extended until it is restored. The other chains are extended.
 * @throws ChainsStopped when the state of all chains is not as this service wrote it
 */
export async function chainAudit(
  { signal, inspect = true }: ChainAuditInput,
  dependencies: ChainAuditDependencies,
): Promise<Chained> {
  const { eventStore, chain, key } = dependencies;
  const until = await eventStore.head();
  for (let first = true; ; first = false) {
    signal?.throwIfAborted();
    const { state, read } = await chain.exclusively(async (session) => {
      const opened = await loadChains({ session }, dependencies);
      const inspected = inspect && first ? await resumeChains({ session, state: opened }, dependencies) : opened;
      const events: RecordedEvent[] = [];
      for await (const event of eventStore.readAll({ after: inspected.position, limit: BATCH })) events.push(event);
      const after = await extendChains({ session, state: inspected, events }, dependencies);
      if (session.stored.kind !== 'stored' || stateMac(key, after) !== session.stored.mac)
        await session.putState(after, stateMac(key, after));
      return { state: after, read: events.length };
    });
    if (state.position >= until || read < BATCH)
      return {
        position: state.position,
        stopped: Object.entries(state.stopped).map(([tenant, reason]) => ({ tenant, reason })),
      };
  }
}

/** Decides which chains are stopped. Chains that may continue get the links of the events that passed meanwhile. */
async function resumeChains(
  { session, state }: { readonly session: ChainSession; readonly state: ChainState },
  dependencies: ChainAuditDependencies,
): Promise<ChainState> {
  const inspected = await inspectChains({ session, state }, dependencies);
  let resumed = inspected.state;
  for (const { tenant, position } of inspected.resumed) {
    let after = position;
    for (;;) {
      const events: RecordedEvent[] = [];
      const page = dependencies.eventStore.readAll({ after, limit: BATCH, filter: { tenant } });
      for await (const event of page) if (event.position <= state.position) events.push(event);
      const last = events.at(-1);
      if (!last) break;
      resumed = await addLinks({ session, state: resumed, events }, dependencies);
      after = last.position;
    }
  }
  return resumed;
}

/** The next events of the log, and the chains that they extend. */
type Extension = {
  readonly session: ChainSession;
  readonly state: ChainState;
  readonly events: readonly RecordedEvent[];
};

/** Chains the next events of the log. */
async function extendChains(
  { session, state, events }: Extension,
  dependencies: ChainAuditDependencies,
): Promise<ChainState> {
  const last = events.at(-1);
  if (!last) return state;
  const extended = await addLinks({ session, state, events }, dependencies);
  return { ...extended, position: last.position, events: state.events + events.length };
}

/** Adds links for the events of all chains that are not stopped, and stops those whose head is not genuine. */
async function addLinks(
  { session, state, events }: Extension,
  dependencies: ChainAuditDependencies,
): Promise<ChainState> {
  const { key, now } = dependencies;
  const stopped: Record<string, string> = { ...state.stopped };
  const tenants = [...new Set(events.map(({ metadata }) => metadata.tenant))].filter(
    (tenant) => !Object.hasOwn(stopped, tenant),
  );
  const found = await session.heads(tenants);
  for (const tenant of tenants) {
    const head = found.get(tenant);
    // A tenant without a head starts a chain, unless the log has signatures of one.
    const fault = head
      ? faultOfHead({ head }, dependencies)
      : await faultOfLastSignature({
          tenant,
          head,
          state,
          session,
          last: await readLastSignature({ tenant }, dependencies),
        });
    if (fault !== undefined) stopped[tenant] = fault;
  }
  const heads = new Map<string, ChainHead>();
  const links: AuditLink[] = [];
  for (const event of events) {
    const { tenant } = event.metadata;
    if (Object.hasOwn(stopped, tenant)) continue;
    const head = heads.get(tenant) ?? found.get(tenant) ?? startOfChain({ tenant, state }, { now });
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
  await session.addLinks(links);
  await session.putHeads([...heads.values()].map((head) => ({ ...head, headMac: headMac(key, head) })));
  const removed = [...heads.keys()].flatMap((tenant) => found.get(tenant) ?? []);
  return {
    ...state,
    chains: state.chains + heads.size - removed.length,
    headsSum: replaceInSum(key, state.headsSum, { removed, added: [...heads.values()] }),
    stopped,
  };
}

function startOfChain(
  { tenant, state }: { readonly tenant: string; readonly state: ChainState },
  { now }: Pick<AuditDependencies, 'now'>,
): ChainHead {
  return {
    tenant,
    seq: 0,
    position: ORIGIN,
    mac: chainStart(state.generation),
    signedSeq: 0,
    unsigned: 0,
    signedAt: now().toISOString(),
  };
}
