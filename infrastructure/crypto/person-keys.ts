import { randomBytes } from 'node:crypto';
import QuickLRU from 'quick-lru';
import type { Signals } from '../../application/ports/signals.ts';
import type { Sealed } from '../../application/ports/vault.ts';
import type { Queryable } from '../postgres/database.ts';
import { open, seal } from './sealed-box.ts';

/** Keys of persons, kept sealed in `operational.person_keys`; destroying one makes everything sealed under it unreadable for good (rule 11). */
export type PersonKeys = {
  /** The person's key, made on first use. @throws Error when it was destroyed */
  obtain(personId: string): Promise<Buffer>;
  /** Keys that exist and were not destroyed; one query for those not cached. */
  find(personIds: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  /** @returns false when it was destroyed before */
  destroy(personId: string): Promise<boolean>;
};

type Row = { readonly person_id: string; readonly sealed_key: Sealed | null };

/** Another process that destroys a key is followed within this time, should its signal get lost. */
const CACHE_MS = 30_000;

/** Names the person whose key was destroyed. */
const DESTROYED = 'person_key_destroyed';

export type PersonKeysOptions = {
  readonly database: Queryable;
  readonly masterKey: Buffer;
  readonly cacheSize?: number;
  readonly signals?: Pick<Signals, 'publish' | 'subscribe'> | undefined;
};

export function createPersonKeys({ database, masterKey, cacheSize = 10_000, signals }: PersonKeysOptions): PersonKeys {
  const cache = new QuickLRU<string, Buffer>({ maxSize: cacheSize, maxAge: CACHE_MS });
  /** Raised by every destruction: a key that was read before is not remembered after it. */
  let destructions = 0;
  function forget(personId: string): void {
    destructions += 1;
    cache.delete(personId);
  }
  signals?.subscribe(DESTROYED, forget);
  const purposeOf = (personId: string) => `person/${personId}`;

  function remember({ person_id: personId, sealed_key: sealed }: Row, before: number): Buffer | undefined {
    if (sealed === null) return undefined;
    const key = Buffer.from(open(masterKey, purposeOf(personId), sealed), 'base64url');
    if (before === destructions) cache.set(personId, key);
    return key;
  }

  return {
    async obtain(personId) {
      const cached = cache.get(personId);
      if (cached) return cached;
      const sealed = seal(masterKey, 'master', purposeOf(personId), randomBytes(32).toString('base64url'));
      const before = destructions;
      // Two first uses: one insert wins, both read the winner's key.
      await database.execute(
        'insert into operational.person_keys (person_id, sealed_key) values ($1, $2) on conflict (person_id) do nothing',
        [personId, sealed],
      );
      const [row] = await database.query<Row>('select person_id, sealed_key from operational.person_keys where person_id = $1', [personId]);
      const key = row && remember(row, before);
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
        const rows = await database.query<Row>('select person_id, sealed_key from operational.person_keys where person_id = any($1)', [[...missing]]);
        for (const row of rows) {
          const key = remember(row, before);
          if (key) found.set(row.person_id, key);
        }
      }
      return found;
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
