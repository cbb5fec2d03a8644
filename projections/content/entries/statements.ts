import { createHash } from 'node:crypto';
import QuickLRU from 'quick-lru';

/** An SQL text and, where it is worth a prepared statement on every connection, its name. */
export type Statement = { readonly text: string; readonly name?: string };

/**
 * Statements by shape. Callers can make up any number of shapes, so the cache is bounded, and only shapes that come again and again become prepared
 * statements: PostgreSQL keeps those for the life of a connection.
 */
export type StatementCache = { get(key: string, compile: () => string): Statement };

export type StatementCacheOptions = { readonly maxShapes?: number; readonly maxPrepared?: number; readonly prepareAfter?: number };

export function createStatementCache({ maxShapes = 1000, maxPrepared = 300, prepareAfter = 3 }: StatementCacheOptions = {}): StatementCache {
  const known = new QuickLRU<string, { readonly statement: Statement; uses: number }>({ maxSize: maxShapes });
  const prepared = new Set<string>();
  return {
    get(key, compile) {
      const found = known.get(key);
      if (!found) {
        const statement = { text: compile() };
        known.set(key, { statement, uses: 1 });
        return statement;
      }
      found.uses += 1;
      if (found.statement.name !== undefined || found.uses < prepareAfter) return found.statement;
      const name = `e_${createHash('sha256').update(found.statement.text).digest('base64url').slice(0, 32)}`;
      if (!prepared.has(name) && prepared.size >= maxPrepared) return found.statement;
      prepared.add(name);
      const statement = { ...found.statement, name };
      known.set(key, { statement, uses: found.uses });
      return statement;
    },
  };
}
