import { createHmac } from 'node:crypto';
import type { RateCounters } from '../../application/ports/rate-counters.ts';
import type { Database } from './database.ts';

export type PostgresRateCounters = RateCounters & {
  /** Deletes counters whose window has ended, at most `limit` of them (default 10,000). @returns the number deleted */
  sweep(limit?: number): Promise<number>;
};

type Row = { readonly taken: number; readonly ends_at: Date; readonly seconds: number };

/**
 * Creates counters with one row each and one statement per call; the row lock serialises calls. `taken` stops at the
 * limit plus one, which distinguishes a refused call from the last allowed one. `key` is the key of the digest.
 */
export function createRateCounters({
  database,
  key,
}: {
  readonly database: Database;
  readonly key: Uint8Array;
}): PostgresRateCounters {
  const counterOf = (scope: string): Buffer => createHmac('sha256', key).update(scope).digest();
  return {
    async take({ scope, limit, windowSeconds }) {
      const [row] = await database.query<Row>(
        `insert into operational.rate_counters as c (counter, taken, ends_at)
         values ($1, 1, clock_timestamp() + $3 * interval '1 second')
         on conflict (counter) do update set
           taken = case when c.ends_at <= clock_timestamp() then 1 else least(c.taken, $2::int4) + 1 end,
           ends_at = case when c.ends_at <= clock_timestamp() then excluded.ends_at
             else least(c.ends_at, excluded.ends_at) end
         returning taken, ends_at, extract(epoch from ends_at - clock_timestamp())::float8 as seconds`,
        [counterOf(scope), limit, windowSeconds],
        'rate-counters-take',
      );
      if (!row) throw new Error('a rate counter returned no row');
      return {
        allowed: row.taken <= limit,
        remaining: Math.max(limit - row.taken, 0),
        retryAfter: Math.max(Math.ceil(row.seconds), 1),
        resetAt: row.ends_at,
      };
    },
    async refund({ scope, limit, resetAt }) {
      // `resetAt` has a precision of milliseconds.
      await database.execute(
        `update operational.rate_counters set taken = greatest(least(taken, $2::int4) - 1, 0)
         where counter = $1 and date_trunc('milliseconds', ends_at) = $3`,
        [counterOf(scope), limit, resetAt],
        'rate-counters-give-back',
      );
    },
    async clear(scope) {
      await database.execute('delete from operational.rate_counters where counter = $1', [counterOf(scope)]);
    },
    sweep: (limit = 10_000) =>
      database.execute(
        `delete from operational.rate_counters where ends_at < clock_timestamp() and counter in
           (select counter from operational.rate_counters where ends_at < clock_timestamp()
             limit $1 for update skip locked)`,
        [limit],
      ),
  };
}
