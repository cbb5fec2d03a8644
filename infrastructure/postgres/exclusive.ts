import { createHash } from 'node:crypto';
import type { Exclusive } from '../../application/ports/exclusive.ts';
import { underAdvisoryLock } from './advisory-lock.ts';
import type { Database } from './database.ts';

/** Mutual exclusion between processes by Postgres advisory locks. Each name has its own queue. */
export function createExclusive({ database }: { readonly database: Database }): Exclusive {
  return (name, work) => underAdvisoryLock({ id: lockId(name) }, () => work(), { database });
}

function lockId(name: string): string {
  return createHash('sha256').update(`exclusive/${name}`).digest().readBigInt64BE().toString();
}
