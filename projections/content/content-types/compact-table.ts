import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import type { Target } from '../../engine/projection.ts';

/** Number of dropped columns from which a table is written again. */
const MAX_DROPPED = 64;

/** No content type has this name. */
const COMPACTED = '_compacted';

/** What a copy of a table needs: its indexes, and the constraints that some of them belong to. */
type IndexRow = { readonly name: string; readonly definition: string; readonly constraint_sql: string | null };

/**
 * Whether dropped columns fill the table. PostgreSQL counts a dropped column towards its limit of 1,600 columns until
 * the table is written again.
 */
export async function needsCompaction(tx: Transaction, { schema }: Target, table: string): Promise<boolean> {
  const [row] = await tx.query<{ dropped: number }>(
    'select count(*)::int as dropped from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and attisdropped',
    [`${schema}.${quoteIdentifier(table)}`],
  );
  return (row?.dropped ?? 0) > MAX_DROPPED;
}

/**
 * Replaces a table with a copy that has the same columns in the same order, rows and indexes, but no dropped columns.
 * The rows are equal, so the time of the copy does not change what a rebuild compares. Views on the table must have
 * been dropped; those of other programs are dropped with it.
 */
export async function compactTable(tx: Transaction, { schema, bulk }: Target, table: string): Promise<void> {
  const [old, copy] = [table, COMPACTED].map((name) => `${schema}.${quoteIdentifier(name)}`);
  if (old === undefined || copy === undefined) return;
  const indexes = await tx.query<IndexRow>(
    `select c.relname as name, pg_get_indexdef(i.indexrelid) as definition,
     pg_get_constraintdef(k.oid) as constraint_sql
     from pg_index i join pg_class c on c.oid = i.indexrelid
     left join pg_constraint k on k.conindid = i.indexrelid and k.conrelid = i.indrelid
     where i.indrelid = to_regclass($1) order by c.oid`,
    [old],
  );
  await tx.query(`create table ${copy} (like ${old} including defaults)`);
  await tx.query(`insert into ${copy} select * from ${old}`);
  await tx.query(`drop table ${old} cascade`);
  await tx.query(`alter table ${copy} rename to ${quoteIdentifier(table)}`);
  for (const { name, definition, constraint_sql: constraint } of indexes)
    await tx.query(
      constraint === null ? definition : `alter table ${old} add constraint ${quoteIdentifier(name)} ${constraint}`,
    );
  if (bulk !== true) await tx.query(`analyze ${old}`);
}
