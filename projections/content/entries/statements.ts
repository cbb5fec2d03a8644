import { createHash } from 'node:crypto';
import QuickLRU from 'quick-lru';

/** An SQL text; with a name it is used as a prepared statement. */
export type Statement = { readonly text: string; readonly name?: string };

/**
 * Caches compiled statements by key. Clients can request any number of different statements, so the cache is bounded.
 * Only statements that are used repeatedly get a name, because PostgreSQL keeps a prepared statement for as long as the
 * connection exists.
 */
export type StatementCache = { get(key: string, compile: () => string): Statement };

export type StatementCacheOptions = {
  /** Maximum number of cached statements. Default 1000. */
  readonly maxCached?: number;
  /** Maximum number of named statements in the life of the process. Default 300. */
  readonly maxPrepared?: number;
  /** Uses after which a statement gets a name. Default 3. */
  readonly prepareAfter?: number;
};

export function createStatementCache({
  maxCached = 1000,
  maxPrepared = 300,
  prepareAfter = 3,
}: StatementCacheOptions = {}): StatementCache {
  const cache = new QuickLRU<string, { readonly statement: Statement; uses: number }>({ maxSize: maxCached });
  const prepared = new Set<string>();
  return {
    get(key, compile) {
      const found = cache.get(key);
      if (!found) {
        const statement = { text: compile() };
        cache.set(key, { statement, uses: 1 });
        return statement;
      }
      found.uses += 1;
      if (found.statement.name !== undefined || found.uses < prepareAfter) return found.statement;
      const name = `e_${createHash('sha256').update(found.statement.text).digest('base64url').slice(0, 32)}`;
      if (!prepared.has(name) && prepared.size >= maxPrepared) return found.statement;
      prepared.add(name);
      const statement = { ...found.statement, name };
      cache.set(key, { statement, uses: found.uses });
      return statement;
    },
  };
}
