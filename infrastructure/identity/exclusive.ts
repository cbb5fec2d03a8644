import { createHash } from 'node:crypto';
import type { Exclusive } from '../../application/ports/exclusive.ts';
import type { Database } from '../postgres/database.ts';

/**
 * Exclusion by an advisory lock of Postgres, which the server frees when a process dies. Work of this process queues here first: it takes at
 * most one waiting connection, so that the work itself always finds one.
 */
export function createExclusive({ database }: { readonly database: Database }): Exclusive {
  let last: Promise<unknown> = Promise.resolve();
  return (name, work) => {
    const run = last.then(() => database.transaction(async (tx) => {
      await tx.query('select pg_advisory_xact_lock($1)', [lockId(name)]);
      return work();
    }));
    last = run.catch(() => undefined);
    return run;
  };
}

function lockId(name: string): string {
  return createHash('sha256').update(`exclusive/${name}`).digest().readBigInt64BE().toString();
}
