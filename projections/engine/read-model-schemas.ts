import { type GlobalPosition, ORIGIN } from '../../domain/event.ts';
import type { Database, Queryable, Transaction } from '../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../infrastructure/postgres/quote.ts';
import type { InTransaction, Projection } from './projection.ts';

/** The names of a read model's schemas (unquoted), checkpoint and leases. */
export function namesOf({ name, version }: Pick<Projection, 'name' | 'version'>): {
  readonly live: string;
  readonly next: string;
  readonly old: string;
  readonly checkpoint: string;
  readonly lease: string;
  readonly rebuild: string;
} {
  return {
    live: `rm_${name}`,
    next: `rm_${name}_next`,
    old: `rm_${name}_old`,
    checkpoint: checkpointName(name, version),
    lease: `projection/${name}`,
    rebuild: `rebuild/${name}`,
  };
}

/** @returns the name of the checkpoint of one version of a read model */
export function checkpointName(name: string, version: number): string {
  return `projection/${name}/${String(version)}`;
}

/**
 * Takes the lock under which one process at a time creates, swaps or drops the schemas of a read model; held until the
 * end of the transaction.
 */
export async function lockSchemas(tx: Transaction, name: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`palimpsest/projection/${name}`]);
}

/** Runs each work in a transaction under the lock of `lockSchemas`. */
export function underSchemaLock(database: Database, name: string): InTransaction {
  return (work) =>
    database.transaction(
      async (tx) => {
        await lockSchemas(tx, name);
        return work(tx);
      },
      { workClass: 'unlimited' },
    );
}

/** @returns the version of the live schema; undefined when none exists */
export async function installedVersion(queryable: Queryable, name: string): Promise<number | undefined> {
  const [row] = await queryable.query<{ version: number }>(
    'select version from operational.projections where name = $1',
    [name],
  );
  return row?.version;
}

export async function schemaExists(queryable: Queryable, schema: string): Promise<boolean> {
  const rows = await queryable.query('select 1 from pg_namespace where nspname = $1', [schema]);
  return rows.length > 0;
}

/** Creates the schema with the projection's empty tables; it must not exist. `bulk`: creates it as a bulk target. */
export async function createEmpty(
  tx: Transaction,
  projection: Projection,
  { schema, bulk = false }: { readonly schema: string; readonly bulk?: boolean },
): Promise<void> {
  const quoted = quoteIdentifier(schema);
  await tx.query(`create schema ${quoted}`);
  await projection.create(tx, { schema: quoted, bulk });
}

/** Maximum number of tables, and of tables with their indexes, that one transaction drops. */
const DROPPED_TABLES = 50;
const DROPPED_RELATIONS = 1_000;

/**
 * Drops a schema, if it exists, in several transactions: a dropped table needs a lock for itself and for each of its
 * indexes, and the server has `max_locks_per_transaction` times `max_connections` locks for all sessions.
 * @param run Its transactions exclude other work on the schema.
 */
export async function dropSchema(run: InTransaction, schema: string): Promise<void> {
  while (!(await run((tx) => dropTables(tx, schema)))) continue;
}

/** @returns whether the schema is gone */
async function dropTables(tx: Transaction, schema: string): Promise<boolean> {
  if (!(await schemaExists(tx, schema))) return true;
  const quoted = quoteIdentifier(schema);
  const tables = await tx.query<{ name: string }>(
    `select name from (
       select t.name, row_number() over (order by t.oid) as place,
         sum(1 + (select count(*) from pg_index i where i.indrelid = t.oid)) over (order by t.oid) as relations
       from (select c.oid, c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
             where n.nspname = $1 and c.relkind in ('r', 'p') limit ${DROPPED_TABLES}) t) sized
     where place = 1 or relations <= ${DROPPED_RELATIONS}`,
    [schema],
  );
  if (tables.length === 0) {
    await tx.query(`drop schema ${quoted} cascade`);
    return true;
  }
  await tx.query(`drop table ${tables.map(({ name }) => `${quoted}.${quoteIdentifier(name)}`).join(', ')} cascade`);
  return false;
}

/**
 * Creates the schema of the read model if it is missing. Safe to call from several processes at once.
 * @param head the head of the log: new tables are served once they are filled up to it
 * @returns `outdated` when the live schema has an earlier version, `newer` when it has a later one; it keeps answering
 * until it is rebuilt
 */
export async function prepareSchema(
  database: Database,
  projection: Projection,
  head: GlobalPosition,
): Promise<'ready' | 'outdated' | 'newer'> {
  const { live, checkpoint } = namesOf(projection);
  const run = underSchemaLock(database, projection.name);
  const version = (tx: Transaction): Promise<number | undefined> => installedVersion(tx, projection.name);
  // A schema without a recorded version is replaced.
  while (!(await run(async (tx) => (await version(tx)) !== undefined || dropTables(tx, live)))) continue;
  const state = await run(async (tx) => {
    const installed = await version(tx);
    if (installed !== undefined && (await schemaExists(tx, live)))
      return installed === projection.version ? 'ready' : installed < projection.version ? 'outdated' : 'newer';
    await createEmpty(tx, projection, { schema: live });
    await tx.execute('delete from operational.checkpoints where name = $1', [checkpoint]);
    await tx.execute('delete from operational.parked_streams where projection = $1', [checkpoint]);
    await tx.execute(
      `insert into operational.projections (name, version, served_from) values ($1, $2, $3)
       on conflict (name) do update
         set version = excluded.version, served_from = excluded.served_from, installed_at = clock_timestamp()`,
      [projection.name, projection.version, head === ORIGIN ? null : head],
    );
    return 'created';
  });
  if (state !== 'created') return state;
  await projection.afterSwap?.(run, { schema: quoteIdentifier(live) });
  return 'ready';
}
