import type { GlobalPosition } from '../../domain/event.ts';
import { ORIGIN } from '../../domain/event.ts';
import type { Database, Transaction } from '../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../infrastructure/postgres/quote.ts';
import { readCheckpoint } from './checkpoints.ts';
import type { Projection } from './projection.ts';
import { namesOf } from './schemas.ts';

/** What a table holds, in any order of its rows: equal rows give equal checksums, on any database and at any batch size. */
export type TableDigest = {
  readonly table: string;
  readonly rows: number;
  /** 32 hexadecimal digits: the sum of one 64-bit hash of every row's canonical text, and the exclusive or of another. */
  readonly checksum: string;
};

export type ProjectionDigest = {
  /** The checkpoint that the rows stand for. */
  readonly position: GlobalPosition;
  readonly tables: readonly TableDigest[];
};

export type DigestOptions = {
  readonly database: Database;
  readonly projection: Projection;
  /** Only rows of this tenant. */
  readonly tenant?: string;
  /** Schema and checkpoint instead of the live ones. */
  readonly schema?: string;
  readonly checkpoint?: string;
};

/** Digests of a read model and the position they hold for, of one moment; reads and projectors go on meanwhile. */
export async function digest({ database, projection, tenant, schema, checkpoint }: DigestOptions): Promise<ProjectionDigest> {
  const names = namesOf(projection);
  return database.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read, read only');
    const position = (await readCheckpoint(tx, checkpoint ?? names.checkpoint))?.position ?? ORIGIN;
    return { position, tables: await digestTables(tx, { projection, schema: schema ?? names.live, ...(tenant === undefined ? {} : { tenant }) }) };
  });
}

/** Digests of the tables in a schema, as the transaction sees them; sorted by name. */
export async function digestTables(tx: Transaction, { projection, schema, tenant }: { readonly projection: Projection; readonly schema: string; readonly tenant?: string }): Promise<readonly TableDigest[]> {
  // The text of a value must not depend on who asks.
  await tx.query(`set local timezone to 'UTC'; set local datestyle to 'ISO, YMD'; set local intervalstyle to 'iso_8601'; set local extra_float_digits to 1; set local bytea_output to 'hex'`);
  const quoted = quoteIdentifier(schema);
  const tables = await projection.tables(tx, { schema: quoted });
  const digests: TableDigest[] = [];
  for (const { table, canonical } of tables.toSorted((a, b) => (a.table < b.table ? -1 : 1))) {
    const [row] = await tx.query<{ rows: number; total: string; mixed: string }>(
      // `offset 0` lets a row's text be made once, not for each of the hashes.
      `select count(*) as rows, coalesce(sum(hashtextextended(c, 0)), 0)::text as total, coalesce(bit_xor(hashtextextended(c, 1)), 0)::text as mixed
       from (select ${canonical ?? '(t.*)::text'} as c from ${quoted}.${quoteIdentifier(table)} t ${tenant === undefined ? '' : 'where t.tenant_id = $1'} offset 0) as canonical`,
      tenant === undefined ? [] : [tenant],
    );
    if (row) digests.push({ table, rows: row.rows, checksum: hex(row.total) + hex(row.mixed) });
  }
  return digests;
}

/** Sixteen digits of the number's low 64 bits. */
function hex(decimal: string): string {
  return BigInt.asUintN(64, BigInt(decimal)).toString(16).padStart(16, '0');
}
