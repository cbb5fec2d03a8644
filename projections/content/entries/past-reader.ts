import { createMutex } from '../../../application/concurrency/mutex.ts';
import { codeOf } from '../../../domain/code-of.ts';
import type { ContentType } from '../../../domain/content/content-type.ts';
import type { PointInTime } from '../../../domain/content/point-in-time.ts';
import { refusal } from '../../../domain/errors.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import { type PastGatheringOptions, createPastGathering } from './past-gathering.ts';
import { type PastSet, missingIds } from './past-rows.ts';
import { type CachedSet, type PastBounds, createPastSetCache } from './past-set-cache.ts';
import { READ_MODEL_POSITION } from './read-model-position.ts';

export type PastReaderOptions = PastGatheringOptions & {
  /** Bounds of the sets of one tenant, in all processes. A read may exceed them by its own sets. */
  readonly bounds?: PastBounds;
};

/** Reads content as it was at a point in time: a point in time, or a position of the log. */
export type PastReader = {
  /**
   * Runs `work` in one snapshot of the read model, with the complete sets of entries that have changed since the
   * point in time, by type id.
   * @throws `past_not_ready` when gathering takes longer than a request may wait (it continues for later requests), or
   *   when too many gatherings of the tenant wait
   */
  read<T>(
    types: readonly ContentType[],
    pointInTime: PointInTime,
    work: (tx: Transaction, sets: ReadonlyMap<string, PastSet>) => Promise<T>,
  ): Promise<T>;
  /** Whether this process has a set of the type's entries at the point in time. */
  isKnown(type: ContentType, pointInTime: PointInTime): boolean;
};

/** Maximum number of entries that are gathered inside an open snapshot. */
const SNAPSHOT_LIMIT = 500;
/**
 * Attempts to take a snapshot in which no entry is missing. After them, the missing entries are gathered inside the
 * snapshot.
 */
const MAX_ATTEMPTS = 3;

/**
 * Most entries have not changed since a point in time, and their current rows are used. The state of each changed entry
 * is folded from its stream once and kept in `operational.past_entries` for the next pages. The state of an entry at a
 * point in time never changes, so entries are only added to a set.
 */
export function createPastReader({ bounds, ...gatheringOptions }: PastReaderOptions): PastReader {
  const { database } = gatheringOptions;
  const sets = createPastSetCache({ database, bounds });
  const gathering = createPastGathering(gatheringOptions);
  // A read that gathers inside its snapshot takes long. Run one at a time, so that such reads do not use up the outer
  // transactions.
  const gatheringReads = createMutex();

  /**
   * Runs `work` in a repeatable-read transaction in which the sets are complete. With `gathers` it adds missing
   * entries itself, if they are fewer than 500. @returns undefined when entries or a set are missing
   */
  function snapshot<T>(
    cached: readonly CachedSet[],
    work: (tx: Transaction, sets: ReadonlyMap<string, PastSet>) => Promise<T>,
    gathers: boolean,
  ): Promise<{ readonly value: T } | undefined> {
    return database[gathers ? 'outerTransaction' : 'transaction'](async (tx) => {
      // Few rows have changed, so a range index is faster. Without statistics the planner would scan the whole table.
      await tx.query('set transaction isolation level repeatable read; set local enable_seqscan to off');
      const ids = cached.map(({ set }) => set.id);
      const [now] = await tx.query<{ position: string | null; sets: number }>(
        `select ${READ_MODEL_POSITION} as position,
         (select count(*) from operational.past_sets where id = any($1)) as sets`,
        [ids],
      );
      if (now?.sets !== ids.length) {
        sets.forget(cached);
        return undefined;
      }
      for (const cachedSet of cached) {
        const missing = await missingIds(tx, cachedSet.set, {
          upto: cachedSet.upto,
          limit: gathers ? SNAPSHOT_LIMIT : 1,
        });
        if (missing.length > 0 && (!gathers || missing.length === SNAPSHOT_LIMIT)) return undefined;
        await gathering.fold(tx, cachedSet.set, missing);
      }
      // Entries added in this transaction are not visible to others before its commit, so `upto` must not move past
      // them.
      if (!gathers && now.position !== null)
        for (const cachedSet of cached) if (cachedSet.upto < now.position) cachedSet.upto = now.position;
      await tx.query('set local enable_seqscan to on');
      return { value: await work(tx, new Map(cached.map(({ set }) => [set.type.id, set]))) };
    });
  }

  /** Runs a step of a read. @returns undefined when one of its sets was deleted meanwhile */
  async function unlessDeleted<T>(cached: readonly CachedSet[], step: () => Promise<T>): Promise<T | undefined> {
    try {
      return await step();
    } catch (error) {
      if (!isDeleted(error)) throw error;
      sets.forget(cached);
      return undefined;
    }
  }

  return {
    isKnown: (type, pointInTime) => sets.has(type, pointInTime),
    async read(types, pointInTime, work) {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const cached = await sets.open(types, pointInTime);
        const result = await unlessDeleted(cached, async () => {
          for (const cachedSet of cached) if (gathering.isGathering(cachedSet)) await gathering.gather(cachedSet);
          const complete = await snapshot(cached, work, false);
          if (!complete) for (const cachedSet of cached) await gathering.gather(cachedSet);
          return complete;
        });
        if (result) return result.value;
      }
      const cached = await sets.open(types, pointInTime);
      const result = await gatheringReads.run(() => unlessDeleted(cached, () => snapshot(cached, work, true)));
      if (!result) throw refusal('past_not_ready', { headers: { 'Retry-After': '1' } });
      return result.value;
    },
  };
}

/** SQLSTATEs of an entry that is added to a set while the set is deleted. */
const DELETED = ['23503', '40001', '40P01'];

function isDeleted(error: unknown): boolean {
  return DELETED.includes(codeOf(error) ?? '');
}
