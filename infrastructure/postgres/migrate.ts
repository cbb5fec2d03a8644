import type { Database } from './database.ts';
import { migrations as shipped } from './migrations/index.ts';
import type { Migration } from './migrations/migration.ts';

/** Any constant will do: every process of the install takes the same one. */
const MIGRATION_LOCK = 7_215_304_118;
const SCHEMA = 'operational';
const TABLE = 'migrations';

/**
 * Brings `eventstore` and `operational` up to date, once, whoever starts first: an advisory lock, which the server frees when a process dies,
 * stands before knex's own, which would outlive it. knex is loaded only where a step is missing, so that an ordinary start pays nothing for it.
 * @returns ids of the steps that ran
 */
export async function migrate(database: Database, migrations: readonly Migration[] = shipped): Promise<readonly string[]> {
  const holder = await database.connect();
  try {
    await holder.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const done = await applied(database);
    if (migrations.every(({ id }) => done.has(id))) return [];
    await database.query(`create schema if not exists ${SCHEMA}`);
    return await run(database, migrations);
  } finally {
    // The lock goes with its connection.
    await holder.end();
  }
}

async function applied(database: Database): Promise<ReadonlySet<string>> {
  const [table] = await database.query('select 1 from pg_catalog.pg_tables where schemaname = $1 and tablename = $2', [SCHEMA, TABLE]);
  if (!table) return new Set();
  return new Set((await database.query<{ name: string }>(`select name from ${SCHEMA}.${TABLE}`)).map(({ name }) => name));
}

async function run(database: Database, migrations: readonly Migration[]): Promise<readonly string[]> {
  const { default: knex } = await import('knex');
  const runner = knex({ client: 'pg', connection: database.url, pool: { min: 0, max: 2 }, log: { warn: () => undefined } });
  try {
    const settings = {
      schemaName: SCHEMA,
      tableName: TABLE,
      migrationSource: {
        getMigrations: () => Promise.resolve(migrations.toSorted((a, b) => (a.id < b.id ? -1 : 1))),
        getMigrationName: ({ id }: Migration) => id,
        getMigration: ({ sql }: Migration) => Promise.resolve({ up: (tx: { raw(sql: string): PromiseLike<unknown> }) => tx.raw(sql.replaceAll('?', '\\?')), down: () => Promise.reject(new Error('migrations go forward only')) }),
      },
    };
    // Only a process that died in the middle can have left it: every other one waits before the advisory lock.
    await runner.migrate.forceFreeMigrationsLock(settings);
    const [, names] = (await runner.migrate.latest(settings)) as [number, readonly string[]];
    return names;
  } finally {
    await runner.destroy();
  }
}
