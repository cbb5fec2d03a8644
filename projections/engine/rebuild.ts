import type { EventStore } from '../../application/ports/event-store.ts';
import type { Lease, Leases } from '../../application/ports/leases.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Signals } from '../../application/ports/signals.ts';
import { isTransient } from '../../application/ports/transient-errors.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import { type GlobalPosition, ORIGIN, laterOf } from '../../domain/event.ts';
import type { Database } from '../../infrastructure/postgres/database.ts';
import { readCheckpoint } from './checkpoints.ts';
import { type TableDifference, compareDigests } from './compare-digests.ts';
import { type TableDigest, digest } from './digest.ts';
import { type NextSchema, type RebuildProgress, createNextSchema } from './fill-next-schema.ts';
import { type ParkedStream, readParked } from './parked-streams.ts';
import type { Projection } from './projection.ts';
import { checkpointName, installedVersion, namesOf, prepareSchema } from './read-model-schemas.ts';
import { completeSwap, swap } from './swap.ts';

export type RebuildOptions = {
  readonly database: Database;
  readonly eventStore: Pick<EventStore, 'head' | 'subscribe'>;
  readonly projection: Projection;
  readonly leases: Leases;
  readonly signals?: Pick<Signals, 'publish' | 'subscribe'>;
  readonly logger?: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Swaps in the rebuilt tables even if they differ from the live ones. */
  readonly force?: boolean;
  /** Rebuilds only if the live schema has another version; otherwise returns immediately. */
  readonly onlyOutdated?: boolean;
  /** Maximum number of events in a batch. Default 2,000. */
  readonly maxBatch?: number;
  readonly onProgress?: (progress: RebuildProgress) => void;
  readonly signal?: AbortSignal;
};

export type RebuildReport = {
  readonly projection: string;
  /**
   * `equal`: the rebuilt tables were equal and were swapped in. `replaced`: another version was replaced, or the swap
   * was forced, or the live read model had parked streams. `differs`: nothing was swapped. `current`: the live version
   * was already current.
   */
  readonly outcome: 'equal' | 'replaced' | 'differs' | 'current';
  /** Position of the digests. */
  readonly position: GlobalPosition;
  /** Digests of the rebuilt tables. */
  readonly tables: readonly TableDigest[];
  /**
   * Tables whose live digest differs. Empty when another version was replaced, because its tables are not comparable.
   */
  readonly differences: readonly TableDifference[];
  /** Streams that the rebuilt tables lack events of, because an event cannot be applied. */
  readonly parked: readonly ParkedStream[];
};

/**
 * Number of comparisons, each at a later position, before tables count as different: a concurrent change of tables may
 * show in only one of the two schemas.
 */
const COMPARISONS = 3;

/**
 * Rebuilds a read model from the log in a second schema, compares it with the live one at the same position, and swaps
 * it in. Reads and waits continue meanwhile. Needs only the database, not a running service: leases and epochs exclude
 * the live projector. A stream that cannot be applied is parked in the new schema.
 * @throws after an error that concerns all streams; the live read model is then unchanged
 */
export async function rebuild(options: RebuildOptions): Promise<RebuildReport> {
  const { projection, leases, signal = new AbortController().signal } = options;
  const lease = await leases.acquire(namesOf(projection).rebuild, signal);
  try {
    return await rebuildUnder(lease, options, AbortSignal.any([signal, lease.signal]));
  } catch (error) {
    // A later rebuild has replaced the tables; then this one fails on tables or rows that it does not expect.
    if (!isTransient(error) && !(await lease.isHeld())) throw refusal('lease_lost');
    throw error;
  } finally {
    await lease.release();
  }
}

async function rebuildUnder(lease: Lease, options: RebuildOptions, signal: AbortSignal): Promise<RebuildReport> {
  const { database, eventStore, projection, leases, maxBatch, onProgress } = options;
  await prepareSchema(database, projection, await eventStore.head());
  await completeSwap(options);
  const installed = await installedVersion(database, projection.name);
  const comparable = installed === projection.version;
  if (options.onlyOutdated === true && comparable)
    return {
      projection: projection.name,
      outcome: 'current',
      position: ORIGIN,
      tables: [],
      differences: [],
      parked: [],
    };
  const liveCheckpoint = checkpointName(projection.name, installed ?? projection.version);
  const livePosition = async () => (await readCheckpoint(database, liveCheckpoint))?.position ?? ORIGIN;
  const { epoch } = lease;
  const idleTimeoutMs = leases.ttlMs;
  const next = await createNextSchema({
    database,
    eventStore,
    projection,
    epoch,
    idleTimeoutMs,
    maxBatch,
    onProgress,
    signal,
  });

  // The rebuilt read model must not pass the live one, because both are compared at the same position.
  await next.catchUpTo(comparable ? await livePosition() : await eventStore.head(), 'filling');
  if (comparable) await next.catchUpTo(await livePosition(), 'filling');
  await next.finish();

  const { tables, differences, position } = await compareSchemas({ next, comparable }, options);
  const parked = await readParked(database, namesOf(projection).rebuild);
  // With parked streams, the live tables lack events.
  const hasParked = (await readParked(database, liveCheckpoint)).length > 0;
  if (differences.length > 0 && options.force !== true && !hasParked) {
    await next.drop();
    return { projection: projection.name, outcome: 'differs', position, tables, differences, parked };
  }

  if (!comparable) await next.catchUpTo(laterOf(next.position(), await eventStore.head()), 'swapping');
  await swapIn({ next, liveCheckpoint, livePosition, epoch, signal }, options);
  options.signals?.publish('lease', namesOf(projection).lease);
  options.signals?.publish('projection', JSON.stringify({ name: projection.name, position: next.position() }));
  await completeSwap(options);
  const outcome = comparable && differences.length === 0 ? 'equal' : 'replaced';
  return { projection: projection.name, outcome, position, tables, differences, parked };
}

/** Digests the rebuilt tables, and compares them with the live ones at the same position if they are `comparable`. */
async function compareSchemas(
  { next, comparable }: { readonly next: NextSchema; readonly comparable: boolean },
  { database, projection }: Pick<RebuildOptions, 'database' | 'projection'>,
): Promise<Pick<RebuildReport, 'tables' | 'differences' | 'position'>> {
  const { next: schema, rebuild: checkpoint } = namesOf(projection);
  for (let round = 1; ; round += 1) {
    const live = comparable ? await digest({ database, projection }) : undefined;
    if (live) await next.catchUpTo(live.position, 'proving');
    const { tables } = await digest({ database, projection, schema, checkpoint });
    const differences = live ? compareDigests(live.tables, tables) : [];
    if (differences.length === 0 || round === COMPARISONS)
      return { tables, differences, position: live?.position ?? next.position() };
  }
}

/** Catches up with the live read model and replaces it. Tries again after transient errors. */
async function swapIn(
  {
    next,
    liveCheckpoint,
    livePosition,
    epoch,
    signal,
  }: {
    readonly next: NextSchema;
    readonly liveCheckpoint: string;
    readonly livePosition: () => Promise<GlobalPosition>;
    readonly epoch: number;
    readonly signal: AbortSignal;
  },
  options: RebuildOptions,
): Promise<void> {
  const { database, projection, leases } = options;
  if (!(await completeSwap(options)))
    throw refusal('unavailable', { message: 'readers keep the tables locked that the last rebuild has replaced' });
  for (let attempt = 1; ; attempt += 1) {
    try {
      await next.catchUpTo(laterOf(next.position(), await livePosition()), 'swapping');
      await swap({
        database,
        projection,
        liveCheckpoint,
        rebuildEpoch: epoch,
        idleTimeoutMs: leases.ttlMs,
        catchUp: (until) => next.catchUpTo(until, 'swapping'),
      });
      return;
    } catch (error) {
      if (signal.aborted || attempt === 10 || hasCode(error, 'lease_lost') || !isTransient(error)) throw error;
    }
  }
}
