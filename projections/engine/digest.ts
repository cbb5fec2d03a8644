import { chunks } from '../../domain/chunks.ts';
import { type GlobalPosition, ORIGIN } from '../../domain/event.ts';
import type { Database, Transaction } from '../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../infrastructure/postgres/quote.ts';
import { readCheckpoint } from './checkpoints.ts';
import type { ProjectedTable, Projection } from './projection.ts';
import { namesOf } from './read-model-schemas.ts';
import { TABLES_PER_TRANSACTION } from './tables-per-transaction.ts';

/**
 * A digest of the rows of a table, independent of their order: equal rows give equal checksums in any database and with
 * any batch size.
 */
export type TableDigest = {
  readonly table: string;
  readonly rows: number;
  /**
   * 32 hexadecimal digits: the sum of a 64-bit hash of each row's canonical text, then the exclusive or of a second
   * hash.
   */
  readonly checksum: string;
};

export type ProjectionDigest = {
  /** The checkpoint of the rows. */
  readonly position: GlobalPosition;
  readonly tables: readonly TableDigest[];
};

export type DigestOptions = {
  readonly database: Database;
  readonly projection: Projection;
  /** Only rows of this tenant. */
  readonly tenant?: string;
  /** Schema and checkpoint to use instead of the live ones. */
  readonly schema?: string;
  readonly checkpoint?: string;
};

/** Computes the digests of a read model and its position from one snapshot, without blocking readers or projectors. */
export async function digest({
  database,
  projection,
  tenant,
  schema,
  checkpoint,
}: DigestOptions): Promise<ProjectionDigest> {
  const names = namesOf(projection);
  return database.transaction(
    async (tx): Promise<ProjectionDigest> => {
      await tx.query('set transaction isolation level repeatable read, read only');
      const position = (await readCheckpoint(tx, checkpoint ?? names.checkpoint))?.position ?? ORIGIN;
      return {
        position,
        tables: await digestTables(tx, {
          projection,
          schema: schema ?? names.live,
          ...(tenant === undefined ? {} : { tenant }),
        }),
      };
    },
    { workClass: 'unlimited' },
  );
}

/** Computes the digests of the tables in a schema, as the transaction sees them, sorted by table name. */
export async function digestTables(
  tx: Transaction,
  {
    projection,
    schema,
    tenant,
  }: { readonly projection: Projection; readonly schema: string; readonly tenant?: string },
): Promise<readonly TableDigest[]> {
  // The text form of a value must not depend on session settings.
  await tx.query(
    `set local timezone to 'UTC'; set local datestyle to 'ISO, YMD'; set local intervalstyle to 'iso_8601';
     set local extra_float_digits to 1; set local bytea_output to 'hex'`,
  );
  const quoted = quoteIdentifier(schema);
  const tables = await projection.tables(tx, { schema: quoted });
  const digests: TableDigest[] = [];
  const sorted = tables.toSorted((a, b) => (a.table < b.table ? -1 : 1));
  for (const chunk of chunks(sorted, TABLES_PER_TRANSACTION)) {
    // The rollback releases the locks of the chunk; the snapshot stays the same.
    await tx.query('savepoint digested');
    for (const table of chunk) digests.push(await digestTable(table));
    await tx.query('rollback to savepoint digested; release savepoint digested');
  }
  return digests;

  async function digestTable({ table, canonical }: ProjectedTable): Promise<TableDigest> {
    const [row] = await tx.query<{ rows: number; total: string; mixed: string }>(
      // `offset 0` makes PostgreSQL compute the text of a row once instead of once per hash.
      `select count(*) as rows, coalesce(sum(hashtextextended(c, 0)), 0)::text as total,
       coalesce(bit_xor(hashtextextended(c, 1)), 0)::text as mixed
       from (select ${canonical ?? '(t.*)::text'} as c
         from ${quoted}.${quoteIdentifier(table)} t ${tenant === undefined ? '' : 'where t.tenant_id = $1'} offset 0) as canonical`,
      tenant === undefined ? [] : [tenant],
    );
    return { table, rows: row?.rows ?? 0, checksum: hex(row?.total ?? '0') + hex(row?.mixed ?? '0') };
  }
}

/** The low 64 bits of the number as 16 hexadecimal digits. */
function hex(decimal: string): string {
  return BigInt.asUintN(64, BigInt(decimal)).toString(16).padStart(16, '0');
}
