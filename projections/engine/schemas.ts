import type { Database, Queryable, Transaction } from '../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../infrastructure/postgres/quote.ts';
import type { Projection } from './projection.ts';

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

/** @returns the version of the live schema; undefined when none exists */
export async function installedVersion(database: Queryable, name: string): Promise<number | undefined> {
  const [row] = await database.query<{ version: number }>(
    'select version from operational.projections where name = $1',
    [name],
  );
  return row?.version;
}

export async function schemaExists(database: Queryable, schema: string): Promise<boolean> {
  const rows = await database.query('select 1 from pg_namespace where nspname = $1', [schema]);
  return rows.length > 0;
}

/** Drops and recreates the schema with the projection's empty tables. `bulk`: creates it as a bulk target. */
export async function createEmpty(
  tx: Transaction,
  projection: Projection,
  { schema, bulk = false }: { readonly schema: string; readonly bulk?: boolean },
): Promise<void> {
  const quoted = quoteIdentifier(schema);
  await tx.query(`drop schema if exists ${quoted} cascade`);
  await tx.query(`create schema ${quoted}`);
  await projection.create(tx, { schema: quoted, bulk });
}

/**
 * Creates the schema of the read model if it is missing. Safe to call from several processes at once.
 * @returns `outdated` when the live schema has another version; it keeps answering until it is rebuilt
 */
export async function prepareSchema(database: Database, projection: Projection): Promise<'ready' | 'outdated'> {
  const { live, checkpoint } = namesOf(projection);
  return database.transaction(async (tx) => {
    await lockSchemas(tx, projection.name);
    const version = await installedVersion(tx, projection.name);
    if (version !== undefined && (await schemaExists(tx, live)))
      return version === projection.version ? 'ready' : 'outdated';
    await createEmpty(tx, projection, { schema: live });
    await tx.execute('delete from operational.checkpoints where name = $1', [checkpoint]);
    await tx.execute(
      `insert into operational.projections (name, version) values ($1, $2)
       on conflict (name) do update set version = excluded.version, installed_at = clock_timestamp()`,
      [projection.name, projection.version],
    );
    await projection.afterSwap?.(tx, { schema: quoteIdentifier(live) });
    return 'ready';
  });
}
