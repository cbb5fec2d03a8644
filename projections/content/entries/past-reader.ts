import QuickLRU from 'quick-lru';
import { inParallel } from '../../../application/concurrency/in-parallel.ts';
import { createTurns } from '../../../application/concurrency/turns.ts';
import { withDeadline } from '../../../application/concurrency/with-deadline.ts';
import type { ContentType } from '../../../domain/content/content-type.ts';
import type { EntryState } from '../../../domain/content/entry-state.ts';
import type { Moment } from '../../../domain/content/moment.ts';
import { refusal } from '../../../domain/errors.ts';
import type { Database, Queryable, Transaction } from '../../../infrastructure/postgres/database.ts';
import { type PastSet, addToSet, missingIds } from './past-rows.ts';
import { deletePastSet, deletePastSetsOverBounds, makePastSet, touchPastSet } from './past-sets.ts';
import { READ_MODEL_POSITION } from './read-model-position.ts';
import { createTenantQueues } from './tenant-queues.ts';

export type PastReaderOptions = {
  readonly database: Database;
  /** Folds the state of an entry at a point in time from its stream; undefined when it did not exist. */
  readonly stateAt: (type: ContentType, id: string, moment: Moment) => Promise<EntryState | undefined>;
  /** How long a request waits for the changed entries to be gathered, in milliseconds. Default 5000. */
  readonly waitMs?: number;
  /** Bounds of the sets of one tenant, in all processes. A read may exceed them by its own sets. */
  readonly bounds?: PastBounds;
};

/** Bounds of the sets of one tenant: their number, and the bytes of the JSON of their entries. */
export type PastBounds = { readonly sets: number; readonly bytes: number };

/** Reads content as it was at a moment: a point in time, or a position of the log. */
export type PastReader = {
  /**
   * Runs `work` in one snapshot of the read model, with the complete sets of entries that have changed since the
   * moment, by type id.
   * @throws `past_not_ready` when gathering takes longer than a request may wait (it continues for later requests), or
   *   when too many gatherings of the tenant wait
   */
  read<T>(
    types: readonly ContentType[],
    moment: Moment,
    work: (tx: Transaction, sets: ReadonlyMap<string, PastSet>) => Promise<T>,
  ): Promise<T>;
  /** Whether this process has a set of the type's entries at the moment. */
  isKnown(type: ContentType, moment: Moment): boolean;
};

type CachedSet = {
  readonly set: PastSet;
  /** Position of the read model up to which the set is known to be complete. */
  upto: string;
  /** When the last use was written to the database, in milliseconds since 1970. */
  touched: number;
  /** The gathering of missing entries that is running. */
  gathering: Promise<void> | undefined;
  /** Until the other sets of the tenant were bounded because of it. */
  isNew: boolean;
};

const MAX_SETS = 500;
/**
 * Any `as_of` makes a set, so a tenant could fill the disk. Few clients read more than some points in time at once; a
 * set that was deleted is gathered again.
 */
const BOUNDS: PastBounds = { sets: 32, bytes: 134_217_728 };
/** Maximum number of gatherings of a tenant that run or wait. Each keeps streams and the database busy. */
const MAX_GATHERINGS = 8;
/**
 * `sweepPastSets` deletes sets that are unused for 10 minutes. Stop using a set after 8, so that it is seldom deleted
 * in use. A set may be deleted at any time: a read finds it in its snapshot, or makes another one.
 */
const EXPIRY_MS = 8 * 60_000;
/** A use is written to the database at most once a minute. */
const TOUCH_MS = 60_000;
/** Maximum number of missing entries that one query finds. */
const FIND_LIMIT = 20_000;
/** Entries that are folded and then added to the set by one statement. */
const CHUNK_SIZE = 200;
/** Streams that are read at the same time. */
const CONCURRENT_READS = 8;
/** Maximum number of entries that are gathered inside an open snapshot. */
const SNAPSHOT_LIMIT = 500;
/**
 * Attempts to take a snapshot in which no entry is missing. After them, the missing entries are gathered inside the
 * snapshot.
 */
const MAX_ATTEMPTS = 3;

/**
 * Most entries have not changed since a moment, and their current rows are used. The state of each changed entry is
 * folded from its stream once and kept in `operational.past_entries` for the next pages. The state of an entry at a
 * moment never changes, so entries are only added to a set.
 */
export function createPastReader({
  database,
  stateAt,
  waitMs = 5_000,
  bounds = BOUNDS,
}: PastReaderOptions): PastReader {
  const sets = new QuickLRU<string, Promise<CachedSet>>({
    maxSize: MAX_SETS,
    onEviction: (_key, evicted) => {
      // After a failure here the sweep deletes the rows.
      evicted.then(({ set }) => deletePastSet(database, set.id)).catch(() => undefined);
    },
  });
  const gatherings = createTenantQueues({ maxWaiting: MAX_GATHERINGS });
  // A read that gathers inside its snapshot takes long. Run one at a time, so that such reads do not use up the outer
  // transactions.
  const gatheringReads = createTurns();

  /** The cached set of the type at the moment; makes one when there is none or it has expired. */
  async function openSet(type: ContentType, moment: Moment): Promise<CachedSet> {
    const key = keyOf(type, moment);
    const opening = sets.get(key);
    const known = opening && (await opening);
    if (!known || (Date.now() - known.touched >= EXPIRY_MS && sets.get(key) === opening)) {
      const made = makeSet(type, moment);
      sets.set(key, made);
      made.catch(() => sets.delete(key));
      return made;
    }
    if (Date.now() - known.touched >= EXPIRY_MS) return openSet(type, moment);
    if (Date.now() - known.touched > TOUCH_MS) {
      known.touched = Date.now();
      await touchPastSet(database, known.set.id);
    }
    return known;
  }

  async function makeSet(type: ContentType, moment: Moment): Promise<CachedSet> {
    const touched = Date.now();
    return {
      set: { type, moment, id: await makePastSet(database, type.tenant) },
      upto: 'position' in moment ? moment.position : '',
      touched,
      gathering: undefined,
      isNew: true,
    };
  }

  /** Folds the entries at the moment of the set and adds them to it. */
  async function fold(queryable: Queryable, { set }: CachedSet, ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += CHUNK_SIZE) {
      const states = await inParallel(ids.slice(at, at + CHUNK_SIZE), CONCURRENT_READS, async (id) => {
        const state = await stateAt(set.type, id, set.moment);
        return [id, state] as const;
      });
      const bytes = await addToSet(queryable, set, states);
      // Outside the snapshot, in which this would conflict with a use of the set that is written at the same time.
      await database.execute('update operational.past_sets set bytes = bytes + $2 where id = $1', [set.id, bytes]);
    }
  }

  /**
   * Gathers the entries that are missing in the set. Concurrent requests of one set share the work.
   * @throws `past_not_ready` after `waitMs`; the work continues
   */
  async function gather(cachedSet: CachedSet): Promise<void> {
    cachedSet.gathering ??= gatherings
      .run(cachedSet.set.type.tenant, async () => {
        for (;;) {
          const ids = await missingIds(database, cachedSet.set, { upto: cachedSet.upto, limit: FIND_LIMIT });
          await fold(database, cachedSet, ids);
          if (ids.length < FIND_LIMIT) return;
        }
      })
      .finally(() => {
        cachedSet.gathering = undefined;
      });
    await withDeadline(cachedSet.gathering, waitMs, () => {
      throw refusal('past_not_ready', { headers: { 'Retry-After': '2' } });
    });
  }

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
        forget(cached);
        return undefined;
      }
      for (const cachedSet of cached) {
        const missing = await missingIds(tx, cachedSet.set, {
          upto: cachedSet.upto,
          limit: gathers ? SNAPSHOT_LIMIT : 1,
        });
        if (missing.length > 0 && (!gathers || missing.length === SNAPSHOT_LIMIT)) return undefined;
        await fold(tx, cachedSet, missing);
      }
      // Entries added in this transaction are not visible to others before its commit, so `upto` must not move past
      // them.
      if (!gathers && now.position !== null)
        for (const cachedSet of cached) if (cachedSet.upto < now.position) cachedSet.upto = now.position;
      await tx.query('set local enable_seqscan to on');
      return { value: await work(tx, new Map(cached.map(({ set }) => [set.type.id, set]))) };
    });
  }

  /** The sets of a read. When one is new, sets of the tenant that were unused for longest and exceed the bounds go. */
  async function openSets(types: readonly ContentType[], moment: Moment): Promise<readonly CachedSet[]> {
    const cached = await Promise.all(types.map((type) => openSet(type, moment)));
    const [first] = cached;
    if (first && cached.some(({ isNew }) => isNew)) {
      for (const cachedSet of cached) cachedSet.isNew = false;
      await deletePastSetsOverBounds(database, {
        tenant: first.set.type.tenant,
        keep: cached.map(({ set }) => set.id),
        ...bounds,
      });
    }
    return cached;
  }

  /** Forgets sets whose rows another process, the sweep or another read has deleted. */
  function forget(cached: readonly CachedSet[]): void {
    for (const { set } of cached) sets.delete(keyOf(set.type, set.moment));
  }

  /** Runs a step of a read. @returns undefined when one of its sets was deleted meanwhile */
  async function unlessDeleted<T>(cached: readonly CachedSet[], step: () => Promise<T>): Promise<T | undefined> {
    try {
      return await step();
    } catch (error) {
      if (!isDeleted(error)) throw error;
      forget(cached);
      return undefined;
    }
  }

  return {
    isKnown: (type, moment) => sets.has(keyOf(type, moment)),
    async read(types, moment, work) {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const cached = await openSets(types, moment);
        const result = await unlessDeleted(cached, async () => {
          for (const cachedSet of cached) if (cachedSet.gathering) await gather(cachedSet);
          const complete = await snapshot(cached, work, false);
          if (!complete) for (const cachedSet of cached) await gather(cachedSet);
          return complete;
        });
        if (result) return result.value;
      }
      const cached = await openSets(types, moment);
      const result = await gatheringReads.run(() => unlessDeleted(cached, () => snapshot(cached, work, true)));
      if (!result) throw refusal('past_not_ready', { headers: { 'Retry-After': '1' } });
      return result.value;
    },
  };
}

/** SQLSTATEs of an entry that is added to a set while the set is deleted. */
const DELETED = ['23503', '40001', '40P01'];

function isDeleted(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    typeof error.code === 'string' &&
    DELETED.includes(error.code)
  );
}

function keyOf(type: ContentType, moment: Moment): string {
  return `${type.id}/${type.revision}/${'time' in moment ? moment.time : moment.position}`;
}
