import type { Database } from './database.ts';
import { migrations as shipped } from './migrations/index.ts';
import type { Migration } from './migrations/migration.ts';

/** An arbitrary constant, the same for every process of the installation. */
const MIGRATION_LOCK = 7_215_304_118;
const SCHEMA = 'operational';
const TABLE = 'migrations';

/**
 * Runs the missing migrations of the schemas `eventstore` and `operational` once, in whichever process starts first. An
 * advisory lock, which the server releases when a process dies, protects knex's own lock, which would outlive the
 * process. knex is loaded only when a migration is missing, so that a normal start does not pay for it.
 * @returns the ids of the migrations that ran
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[] = shipped,
): Promise<readonly string[]> {
  const holder = await database.connect();
  try {
    await holder.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const done = await applied(database);
    if (migrations.every(({ id }) => done.has(id))) return [];
    await database.query(`create schema if not exists ${SCHEMA}`);
    return await run(database, migrations);
  } finally {
    // Closing the connection releases the lock.
    await holder.end();
  }
}

async function applied(database: Database): Promise<ReadonlySet<string>> {
  const [table] = await database.query('select 1 from pg_catalog.pg_tables where schemaname = $1 and tablename = $2', [
    SCHEMA,
    TABLE,
  ]);
  if (!table) return new Set();
  return new Set(
    (await database.query<{ name: string }>(`select name from ${SCHEMA}.${TABLE}`)).map(({ name }) => name),
  );
}

async function run(database: Database, migrations: readonly Migration[]): Promise<readonly string[]> {
  const { default: knex } = await import('knex');
  const runner = knex({
    client: 'pg',
    connection: database.url,
    pool: { min: 0, max: 2 },
    log: { warn: () => undefined },
  });
  try {
    const settings = {
      schemaName: SCHEMA,
      tableName: TABLE,
      migrationSource: {
        getMigrations: () => Promise.resolve(migrations.toSorted((a, b) => (a.id < b.id ? -1 : 1))),
        getMigrationName: ({ id }: Migration) => id,
        getMigration: ({ sql }: Migration) =>
          Promise.resolve({
            up: (tx: { raw(sql: string): PromiseLike<unknown> }) => tx.raw(sql.replaceAll('?', '\\?')),
            down: () => Promise.reject(new Error('migrations go forward only')),
          }),
      },
    };
    // Only a crashed process can have left this lock: all others wait for the advisory lock.
    await runner.migrate.forceFreeMigrationsLock(settings);
    const [, names] = (await runner.migrate.latest(settings)) as [number, readonly string[]];
    return names;
  } finally {
    await runner.destroy();
  }
}
