import { setTimeout as pause } from 'node:timers/promises';
import QuickLRU from 'quick-lru';
import type { ContentType } from '../../../domain/content/content-type.ts';
import type { EntryState } from '../../../domain/content/entry-state.ts';
import type { Moment } from '../../../domain/content/moment.ts';
import { refusal } from '../../../domain/errors.ts';
import type { Database, Queryable, Transaction } from '../../../infrastructure/postgres/database.ts';
import { addToSet, missingIds } from './past-rows.ts';
import type { PastSet } from './past-rows.ts';
import { READ_MODEL_POSITION } from './read-model-position.ts';

export type PastOptions = {
  readonly database: Database;
  /** An entry at a moment, from its stream; undefined where it was not there. */
  readonly stateAt: (type: ContentType, id: string, moment: Moment) => Promise<EntryState | undefined>;
  /** How long a request waits until a moment's entries are gathered, in milliseconds. Default 5,000. */
  readonly waitMs?: number;
};

/** Reads of content as it stood at a moment. */
export type Past = {
  /**
   * Runs `work` in one snapshot of the read model, over the sets of entries that have changed since the moment, by type id.
   * @throws `past_not_ready` while many entries are being gathered; it goes on
   */
  read<T>(types: readonly ContentType[], moment: Moment, work: (tx: Transaction, sets: ReadonlyMap<string, PastSet>) => Promise<T>): Promise<T>;
  /** Whether a set of the type's entries at the moment is at hand. */
  isKnown(type: ContentType, moment: Moment): boolean;
};

/** `upto`: where the read model stood when nothing was missing in the set. `touched`: last use that the database knows of. */
type Held = { readonly set: PastSet; upto: string; touched: number; gathering: Promise<void> | undefined };

const MAX_SETS = 500;
/** Sets unused for ten minutes are swept (`sweepPastSets`); none is used again after eight. */
const FORGET_MS = 8 * 60_000;
const TOUCH_MS = 60_000;
/** Entries looked for at once, folded in one go, and read side by side. */
const LOOK = 20_000;
const CHUNK = 200;
const SIDE_BY_SIDE = 8;
/** Most entries gathered while a snapshot stays open. */
const INSIDE = 500;
/** Rounds in which entries that changed just now are gathered before the snapshot is taken again. */
const ROUNDS = 3;

/**
 * Most entries have not changed since the moment: their rows serve as they are. The others are folded from their streams, once for a moment, and kept in
 * `operational.past_entries` for the pages that follow. What an entry was at a moment never changes, so a set only grows.
 */
export function createPast({ database, stateAt, waitMs = 5_000 }: PastOptions): Past {
  const sets = new QuickLRU<string, Promise<Held>>({ maxSize: MAX_SETS });
  // A read that gathers inside its snapshot holds one connection and needs others: never two of them.
  let inside: Promise<unknown> = Promise.resolve();

  async function hold(type: ContentType, moment: Moment): Promise<Held> {
    const key = keyOf(type, moment);
    const holding = sets.get(key);
    const known = holding && (await holding);
    if (!known || (Date.now() - known.touched >= FORGET_MS && sets.get(key) === holding)) {
      const made = makeSet(type, moment);
      sets.set(key, made);
      made.catch(() => sets.delete(key));
      return made;
    }
    if (Date.now() - known.touched >= FORGET_MS) return hold(type, moment);
    if (Date.now() - known.touched > TOUCH_MS) {
      known.touched = Date.now();
      await database.execute('update operational.past_sets set used_at = now() where id = $1', [known.set.id]);
    }
    return known;
  }

  async function makeSet(type: ContentType, moment: Moment): Promise<Held> {
    const touched = Date.now();
    const [row] = await database.query<{ id: number }>('insert into operational.past_sets default values returning id');
    if (!row) throw new Error('no set was made');
    return { set: { type, moment, id: row.id }, upto: 'position' in moment ? moment.position : '', touched, gathering: undefined };
  }

  async function fold(db: Queryable, { set }: Held, ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += CHUNK) {
      const waiting = ids.slice(at, at + CHUNK);
      const states: [string, EntryState | undefined][] = [];
      const reader = async (): Promise<void> => {
        for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) states.push([id, await stateAt(set.type, id, set.moment)]);
      };
      await Promise.all(Array.from({ length: SIDE_BY_SIDE }, reader));
      await addToSet(db, set, states);
    }
  }

  /** Gathers what is missing now; requests of one moment share the work. */
  async function gather(held: Held): Promise<void> {
    held.gathering ??= (async () => {
      for (;;) {
        const ids = await missingIds(database, held.set, { upto: held.upto, limit: LOOK });
        await fold(database, held, ids);
        if (ids.length < LOOK) return;
      }
    })().finally(() => {
      held.gathering = undefined;
    });
    const late = new AbortController();
    const outcome = await Promise.race([held.gathering.then(() => 'done' as const), pause(waitMs, 'late' as const, { signal: late.signal, ref: false }).catch(() => 'done' as const)]);
    late.abort();
    if (outcome === 'late') {
      held.gathering.catch(() => undefined);
      throw refusal('past_not_ready', { headers: { 'Retry-After': '2' } });
    }
  }

  function snapshot<T>(helds: readonly Held[], work: (tx: Transaction, sets: ReadonlyMap<string, PastSet>) => Promise<T>, gathers: boolean): Promise<{ readonly value: T } | undefined> {
    return database.transaction(async (tx) => {
      // The range index is the better way to few rows, whatever the planner thinks of a table it has not counted yet.
      await tx.query('set transaction isolation level repeatable read; set local enable_seqscan to off');
      const [now] = await tx.query<{ position: string | null }>(`select ${READ_MODEL_POSITION} as position`);
      for (const held of helds) {
        const ids = await missingIds(tx, held.set, { upto: held.upto, limit: gathers ? INSIDE : 1 });
        if (ids.length > 0 && (!gathers || ids.length === INSIDE)) return undefined;
        await fold(tx, held, ids);
      }
      // What is gathered inside is there for others only once it is committed: they look again.
      if (!gathers && now?.position != null) for (const held of helds) if (held.upto < now.position) held.upto = now.position;
      await tx.query('set local enable_seqscan to on');
      return { value: await work(tx, new Map(helds.map(({ set }) => [set.type.id, set]))) };
    });
  }

  return {
    isKnown: (type, moment) => sets.has(keyOf(type, moment)),
    async read(types, moment, work) {
      const helds = await Promise.all(types.map((type) => hold(type, moment)));
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const held of helds) if (held.gathering) await gather(held);
        const result = await snapshot(helds, work, false);
        if (result) return result.value;
        for (const held of helds) await gather(held);
      }
      const last = inside.then(() => snapshot(helds, work, true));
      inside = last.catch(() => undefined);
      const result = await last;
      if (!result) throw refusal('past_not_ready', { headers: { 'Retry-After': '1' } });
      return result.value;
    },
  };
}

/** Drops sets that nobody has used for ten minutes. @returns how many */
export async function sweepPastSets(database: Queryable): Promise<number> {
  return database.execute(`delete from operational.past_sets where used_at < now() - interval '10 minutes'`);
}

function keyOf(type: ContentType, moment: Moment): string {
  return `${type.id}/${type.revision}/${'time' in moment ? moment.time : moment.position}`;
}
