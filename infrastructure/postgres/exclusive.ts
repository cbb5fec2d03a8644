import { createHash } from 'node:crypto';
import type { Exclusive } from '../../application/ports/exclusive.ts';
import type { Database } from './database.ts';

/**
 * Mutual exclusion between processes by a Postgres advisory lock, which the server releases when a process dies. Work
 * of this process is queued first, so that at most one connection waits for the lock and the work itself can get
 * others.
 */
export function createExclusive({ database }: { readonly database: Database }): Exclusive {
  let last: Promise<unknown> = Promise.resolve();
  return (name, work) => {
    const run = last.then(() =>
      database.transaction(async (tx) => {
        await tx.query('select pg_advisory_xact_lock($1)', [lockId(name)]);
        return work();
      }),
    );
    last = run.catch(() => undefined);
    return run;
  };
}

function lockId(name: string): string {
  return createHash('sha256').update(`exclusive/${name}`).digest().readBigInt64BE().toString();
}
