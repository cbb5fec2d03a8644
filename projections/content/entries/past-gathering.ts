import { inParallel } from '../../../application/concurrency/in-parallel.ts';
import { withDeadline } from '../../../application/concurrency/with-deadline.ts';
import { chunks } from '../../../domain/chunks.ts';
import type { ContentType } from '../../../domain/content/content-type.ts';
import type { EntryState } from '../../../domain/content/entry-state.ts';
import type { PointInTime } from '../../../domain/content/point-in-time.ts';
import { refusal } from '../../../domain/errors.ts';
import type { Database, Queryable } from '../../../infrastructure/postgres/database.ts';
import { type PastSet, addToSet, missingIds } from './past-rows.ts';
import type { CachedSet } from './past-set-cache.ts';
import { createTenantQueues } from './tenant-queues.ts';

export type PastGatheringOptions = {
  readonly database: Database;
  /** Folds the state of an entry at a point in time from its stream; undefined when it did not exist. */
  readonly stateAt: (type: ContentType, id: string, pointInTime: PointInTime) => Promise<EntryState | undefined>;
  /** How long a request waits for the changed entries to be gathered, in milliseconds. Default 5000. */
  readonly waitMs?: number | undefined;
};

/** Adds entries that have changed since a point in time to the sets of that point in time. */
export type PastGathering = {
  /** Folds the entries at the point in time of the set and adds them to it. */
  fold(queryable: Queryable, set: PastSet, ids: readonly string[]): Promise<void>;
  /**
   * Gathers the entries that are missing in the set. Concurrent requests of one set share the work.
   * @throws `past_not_ready` after `waitMs`, and the work continues; or when too many gatherings of the tenant wait
   */
  gather(cached: CachedSet): Promise<void>;
  /** Whether the missing entries of the set are being gathered. */
  isGathering(cached: CachedSet): boolean;
};

/** Maximum number of gatherings of a tenant that run or wait. Each keeps streams and the database busy. */
const MAX_GATHERINGS = 8;
/** Maximum number of missing entries that one query finds. */
const FIND_LIMIT = 20_000;
/** Entries that are folded and then added to the set by one statement. */
const CHUNK_SIZE = 200;
/** Streams that are read at the same time. */
const CONCURRENT_READS = 8;

export function createPastGathering({ database, stateAt, waitMs = 5_000 }: PastGatheringOptions): PastGathering {
  const queues = createTenantQueues({ maxWaiting: MAX_GATHERINGS });
  const running = new WeakMap<CachedSet, Promise<void>>();

  async function fold(queryable: Queryable, set: PastSet, ids: readonly string[]): Promise<void> {
    for (const part of chunks(ids, CHUNK_SIZE)) {
      const states = await inParallel(part, CONCURRENT_READS, async (id) => {
        const state = await stateAt(set.type, id, set.pointInTime);
        return [id, state] as const;
      });
      const bytes = await addToSet(queryable, set, states);
      // Outside the snapshot, in which this would conflict with a use of the set that is written at the same time.
      await database.execute('update operational.past_sets set bytes = bytes + $2 where id = $1', [set.id, bytes]);
    }
  }

  async function gatherAll(cached: CachedSet): Promise<void> {
    const { set } = cached;
    for (;;) {
      const ids = await missingIds(database, set, { upto: cached.upto, limit: FIND_LIMIT });
      await fold(database, set, ids);
      if (ids.length < FIND_LIMIT) return;
    }
  }

  function start(cached: CachedSet): Promise<void> {
    const gathering = queues
      .run(cached.set.type.tenant, () => gatherAll(cached))
      .finally(() => {
        running.delete(cached);
      });
    running.set(cached, gathering);
    return gathering;
  }

  return {
    fold,
    gather: (cached) =>
      withDeadline(running.get(cached) ?? start(cached), waitMs, () => {
        throw refusal('past_not_ready', { headers: { 'Retry-After': '2' } });
      }),
    isGathering: (cached) => running.has(cached),
  };
}
