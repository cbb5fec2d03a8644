import QuickLRU from 'quick-lru';
import type { ContentType } from '../../../domain/content/content-type.ts';
import type { PointInTime } from '../../../domain/content/point-in-time.ts';
import type { Database } from '../../../infrastructure/postgres/database.ts';
import type { PastSet } from './past-rows.ts';
import { deletePastSet, deletePastSetsOverBounds, makePastSet, touchPastSet } from './past-sets.ts';

/** Bounds of the sets of one tenant: their number, and the bytes of the JSON of their entries. */
export type PastBounds = { readonly sets: number; readonly bytes: number };

/** A set that this process uses. */
export type CachedSet = {
  readonly set: PastSet;
  /** Position of the read model up to which the set is known to be complete. */
  upto: string;
};

type OpenSet = CachedSet & {
  /** When the last use was written to the database, in milliseconds since 1970. */
  touched: number;
  /** Until the other sets of the tenant were bounded because of it. */
  isNew: boolean;
};

/** The sets that this process uses, by content type and point in time. */
export type PastSetCache = {
  /**
   * The sets of a read. When one is new, sets of the tenant that were unused for longest and exceed the bounds are
   * deleted.
   */
  open(types: readonly ContentType[], pointInTime: PointInTime): Promise<readonly CachedSet[]>;
  /** Forgets sets whose rows another process, the sweep or another read has deleted. */
  forget(cached: readonly CachedSet[]): void;
  has(type: ContentType, pointInTime: PointInTime): boolean;
};

const MAX_SETS = 500;
/**
 * Any `as_of` makes a set, so a tenant could fill the disk. Few clients read more than some points in time at once; a
 * set that was deleted is gathered again.
 */
const BOUNDS: PastBounds = { sets: 32, bytes: 134_217_728 };
/**
 * `sweepPastSets` deletes sets that are unused for 10 minutes. Stop using a set after 8, so that it is seldom deleted
 * in use. A set may be deleted at any time: a read finds it in its snapshot, or makes another one.
 */
const EXPIRY_MS = 8 * 60_000;
/** A use is written to the database at most once a minute. */
const TOUCH_MS = 60_000;

export function createPastSetCache({
  database,
  bounds = BOUNDS,
}: {
  readonly database: Database;
  readonly bounds?: PastBounds | undefined;
}): PastSetCache {
  const sets = new QuickLRU<string, Promise<OpenSet>>({
    maxSize: MAX_SETS,
    onEviction: (_key, evicted) => {
      // After a failure here the sweep deletes the rows.
      evicted.then(({ set }) => deletePastSet(database, set.id)).catch(() => undefined);
    },
  });

  /** The cached set of the type at the point in time; makes one when there is none or it has expired. */
  async function openSet(type: ContentType, pointInTime: PointInTime): Promise<OpenSet> {
    const key = keyOf(type, pointInTime);
    const opening = sets.get(key);
    const opened = opening && (await opening);
    if (!opened || (Date.now() - opened.touched >= EXPIRY_MS && sets.get(key) === opening)) {
      const made = makeSet(type, pointInTime);
      sets.set(key, made);
      made.catch(() => sets.delete(key));
      return made;
    }
    if (Date.now() - opened.touched >= EXPIRY_MS) return openSet(type, pointInTime);
    if (Date.now() - opened.touched > TOUCH_MS) {
      opened.touched = Date.now();
      await touchPastSet(database, opened.set.id);
    }
    return opened;
  }

  async function makeSet(type: ContentType, pointInTime: PointInTime): Promise<OpenSet> {
    const touched = Date.now();
    return {
      set: { type, pointInTime, id: await makePastSet(database, type.tenant) },
      upto: 'position' in pointInTime ? pointInTime.position : '',
      touched,
      isNew: true,
    };
  }

  return {
    async open(types, pointInTime) {
      const cached = await Promise.all(types.map((type) => openSet(type, pointInTime)));
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
    },
    forget(cached) {
      for (const { set } of cached) sets.delete(keyOf(set.type, set.pointInTime));
    },
    has: (type, pointInTime) => sets.has(keyOf(type, pointInTime)),
  };
}

function keyOf(type: ContentType, pointInTime: PointInTime): string {
  return `${type.id}/${type.revision}/${'time' in pointInTime ? pointInTime.time : pointInTime.position}`;
}
