import type { Database, Queryable, Transaction } from '../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../infrastructure/postgres/quote.ts';
import type { Projection } from './projection.ts';

/** Names that belong to a read model. Schemas unquoted. */
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

/** Checkpoint of a version of a read model. */
export function checkpointName(name: string, version: number): string {
  return `projection/${name}/${String(version)}`;
}

/** One process at a time creates, swaps or drops the schemas of a read model; held to the end of the transaction. */
export async function lockSchemas(tx: Transaction, name: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`palimpsest/projection/${name}`]);
}

/** @returns the version that the live schema holds; undefined when there is none. */
export async function installedVersion(database: Queryable, name: string): Promise<number | undefined> {
  const [row] = await database.query<{ version: number }>('select version from operational.projections where name = $1', [name]);
  return row?.version;
}

export async function schemaExists(database: Queryable, schema: string): Promise<boolean> {
  const rows = await database.query('select 1 from pg_namespace where nspname = $1', [schema]);
  return rows.length > 0;
}

/** Makes the schema anew, with the projection's empty tables; `bulk`: to be filled as a bulk target. */
export async function createEmpty(tx: Transaction, projection: Projection, schema: string, { bulk = false }: { readonly bulk?: boolean } = {}): Promise<void> {
  const quoted = quoteIdentifier(schema);
  await tx.query(`drop schema if exists ${quoted} cascade`);
  await tx.query(`create schema ${quoted}`);
  await projection.create(tx, { schema: quoted, bulk });
}

/**
 * Makes the read model's schema where there is none, once, whoever comes first.
 * @returns `outdated` when the live schema holds another version: it goes on answering until it is rebuilt
 */
export async function prepareSchema(database: Database, projection: Projection): Promise<'ready' | 'outdated'> {
  const { live, checkpoint } = namesOf(projection);
  return database.transaction(async (tx) => {
    await lockSchemas(tx, projection.name);
    const version = await installedVersion(tx, projection.name);
    if (version !== undefined && (await schemaExists(tx, live))) return version === projection.version ? 'ready' : 'outdated';
    await createEmpty(tx, projection, live);
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
