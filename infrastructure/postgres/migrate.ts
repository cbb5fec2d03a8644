import type { Database } from './database.ts';
import { migrations as shipped } from './migrations/index.ts';
import type { Migration } from './migrations/migration.ts';

/** Any constant will do: every process of the install takes the same one. */
const MIGRATION_LOCK = 7_215_304_118;

/**
 * Brings `eventstore` and `operational` up to date, once, whoever starts first (advisory lock, released by the server when a process dies).
 * @returns ids of the steps that ran
 */
export async function migrate(database: Database, migrations: readonly Migration[] = shipped): Promise<readonly string[]> {
  return database.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await tx.query('create schema if not exists operational');
    await tx.query(
      'create table if not exists operational.migrations (id text primary key, applied_at timestamptz not null default now())',
    );
    const done = new Set((await tx.query<{ id: string }>('select id from operational.migrations')).map(({ id }) => id));
    const missing = migrations.filter(({ id }) => !done.has(id)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
    for (const { id, sql } of missing) {
      await tx.query(sql);
      await tx.query('insert into operational.migrations (id) values ($1)', [id]);
    }
    return missing.map(({ id }) => id);
  });
}
