import { randomBytes } from 'node:crypto';
import QuickLRU from 'quick-lru';
import type { Signals } from '../../application/ports/signals.ts';
import type { SealedValue } from '../../domain/sealed-value.ts';
import type { Database } from '../postgres/database.ts';
import { open, seal } from './sealed-box.ts';

/**
 * Keys of persons, stored sealed in `operational.person_keys`. Destroying a key makes everything sealed under it
 * permanently unreadable.
 */
export type PersonKeys = {
  /** Returns the person's key, and creates it on first use. @throws Error when it was destroyed */
  obtain(personId: string): Promise<Buffer>;
  /** Returns the keys that exist and are not destroyed, with one query for those that are not cached. */
  find(personIds: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  /** The ids of the persons whose key exists and is not destroyed, in ascending order. */
  ids(): AsyncIterable<string>;
  /** Destroys the person's key. @returns false when it was destroyed before */
  destroy(personId: string): Promise<boolean>;
};

type Row = { readonly person_id: string; readonly sealed_key: SealedValue | null };

/**
 * How long a key is cached. When the signal of another process is lost, this process uses a destroyed key at most this
 * long.
 */
const CACHE_MS = 30_000;

/** Signal channel; the message is the id of the person whose key was destroyed. */
const DESTROYED = 'person_key_destroyed';

/** Number of ids that one statement reads. */
const PAGE = 1_000;

export type PersonKeysOptions = {
  readonly database: Database;
  readonly masterKey: Buffer;
  readonly cacheSize?: number;
  readonly signals?: Pick<Signals, 'publish' | 'subscribe'> | undefined;
};

export function createPersonKeys({ database, masterKey, cacheSize = 10_000, signals }: PersonKeysOptions): PersonKeys {
  const cache = new QuickLRU<string, Buffer>({ maxSize: cacheSize, maxAge: CACHE_MS });
  /** Number of destroyed keys. A key read before a destruction is not cached after it. */
  let destructions = 0;
  function forget(personId: string): void {
    destructions += 1;
    cache.delete(personId);
  }
  signals?.subscribe(DESTROYED, forget);
  const purposeOf = (personId: string) => `person/${personId}`;

  function openAndCache(
    { person_id: personId, sealed_key: sealed }: Row,
    destructionsBefore: number,
  ): Buffer | undefined {
    if (sealed === null) return undefined;
    const key = Buffer.from(open(sealed, { key: masterKey, purpose: purposeOf(personId) }), 'base64url');
    if (destructionsBefore === destructions) cache.set(personId, key);
    return key;
  }

  return {
    async obtain(personId) {
      const cached = cache.get(personId);
      if (cached) return cached;
      const sealed = seal(randomBytes(32).toString('base64url'), {
        key: { id: 'master', bytes: masterKey },
        purpose: purposeOf(personId),
      });
      const before = destructions;
      // When two processes create the key at once, one insert wins, and both read that key.
      await database.execute(
        'insert into operational.person_keys (person_id, sealed_key) values ($1, $2) on conflict (person_id) do nothing',
        [personId, sealed],
      );
      const [row] = await database.query<Row>(
        'select person_id, sealed_key from operational.person_keys where person_id = $1',
        [personId],
      );
      const key = row && openAndCache(row, before);
      if (!key) throw new Error('the key of this person was destroyed');
      return key;
    },
    async find(personIds) {
      const found = new Map<string, Buffer>();
      const missing = new Set<string>();
      for (const personId of personIds) {
        const cached = cache.get(personId);
        if (cached) found.set(personId, cached);
        else missing.add(personId);
      }
      if (missing.size > 0) {
        const before = destructions;
        const rows = await database.query<Row>(
          'select person_id, sealed_key from operational.person_keys where person_id = any($1)',
          [[...missing]],
        );
        for (const row of rows) {
          const key = openAndCache(row, before);
          if (key) found.set(row.person_id, key);
        }
      }
      return found;
    },
    async *ids() {
      let after = '';
      for (;;) {
        const rows = await database.query<{ person_id: string }>(
          `select person_id from operational.person_keys where person_id > $1 and sealed_key is not null
           order by person_id limit ${PAGE}`,
          [after],
        );
        for (const { person_id: id } of rows) yield id;
        const last = rows.at(-1);
        if (!last || rows.length < PAGE) return;
        after = last.person_id;
      }
    },
    async destroy(personId) {
      const destroyed = await database.execute(
        `insert into operational.person_keys as k (person_id, sealed_key, destroyed_at) values ($1, null, now())
         on conflict (person_id) do update set sealed_key = null, destroyed_at = now() where k.sealed_key is not null`,
        [personId],
      );
      forget(personId);
      signals?.publish(DESTROYED, personId);
      return destroyed > 0;
    },
  };
}
