import { chunks } from '../../../domain/chunks.ts';
import { codeOf } from '../../../domain/code-of.ts';
import { keyOf } from '../../../domain/content/entry-fields.ts';
import { isStored } from '../../../domain/content/field-types.ts';
import type { Queryable, Transaction } from '../../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import type { InTransaction, Target } from '../../engine/projection.ts';
import { TABLES_PER_TRANSACTION } from '../../engine/tables-per-transaction.ts';
import { LIVE, readContentTypes } from './rows.ts';

/** The columns that every view has besides the fields: name, and SQL expression over the alias `t`. */
const VIEW_COLUMNS: readonly (readonly [name: string, expression: string])[] = [
  ['id', 't.id'],
  ['tenant_id', 't.tenant_id'],
  ['version', 't."_version"'],
  ['status', 't."_status"'],
  ['slug', 't."_slug"'],
  ['created_at', 't."_created_at"'],
  ['updated_at', 't."_updated_at"'],
  ['published_at', 't."_published_at"'],
  ['created_by', 't."_created_by"'],
  ['updated_by', 't."_updated_by"'],
];

/** The name of the content type that a view shows. Only the live schema has views: other targets are ignored. */
type ViewInput = { readonly name: string };

/**
 * Updates the view `content.<type>` to the columns of its live table. New columns are added at the end, so that views
 * that depend on it are kept. A change that PostgreSQL cannot make in place drops the view and its dependent views.
 */
export async function refreshView(tx: Transaction, { schema }: Target, { name }: ViewInput): Promise<void> {
  if (schema !== LIVE) return;
  const types = await readContentTypes(tx, LIVE, { name, live: true });
  if (types.length === 0) return;
  const fields = types.flatMap(({ definition, retained }) => [...definition.fields, ...retained]);
  const columnsByName = new Map<string, string>(VIEW_COLUMNS);
  for (const field of fields.filter(isStored)) columnsByName.set(keyOf(field), `t.${quoteIdentifier(keyOf(field))}`);
  await tx.query('create schema if not exists content');
  const shown = await viewColumns(tx, name);
  const loses = shown.some((column) => !columnsByName.has(column));
  if (loses) await dropView(tx, { schema }, { name });
  const order = loses ? [...columnsByName.keys()] : [...new Set([...shown, ...columnsByName.keys()])];
  const columns = order.map((column) => `${columnsByName.get(column) ?? 'null'} as ${quoteIdentifier(column)}`);
  const body = `view content.${quoteIdentifier(name)} as select ${columns.join(', ')}
    from ${LIVE}.${quoteIdentifier(name)} t where t."_deleted_at" is null`;
  await tx.query('savepoint refresh_view');
  try {
    await tx.query(`create or replace ${body}`);
  } catch (error) {
    if (!isColumnTypeChange(error)) throw error;
    await tx.query('rollback to savepoint refresh_view');
    await dropView(tx, { schema }, { name });
    await tx.query(`create ${body}`);
  }
  await tx.query('release savepoint refresh_view');
}

/** Whether PostgreSQL refused to change the type of a view's column. */
function isColumnTypeChange(error: unknown): boolean {
  return codeOf(error) === '42P16';
}

/** Drops a view and the views that depend on it. */
export async function dropView(tx: Transaction, { schema }: Target, { name }: ViewInput): Promise<void> {
  if (schema !== LIVE) return;
  await tx.query('create schema if not exists content');
  await tx.query(`drop view if exists content.${quoteIdentifier(name)} cascade`);
}

/** Renames a view with its table; dependent views are kept. */
export async function renameView(
  tx: Transaction,
  { schema }: Target,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  if (schema !== LIVE) return;
  await tx.query('create schema if not exists content');
  await tx.query(`alter view if exists content.${quoteIdentifier(from)} rename to ${quoteIdentifier(to)}`);
}

/** Renames a view's column with the column of its table; dependent views are kept. */
export async function renameViewColumn(
  tx: Transaction,
  { schema }: Target,
  { name, from, to }: ViewInput & { readonly from: string; readonly to: string },
): Promise<void> {
  if (schema !== LIVE) return;
  if (!(await viewColumns(tx, name)).includes(from)) return;
  await tx.query(
    `alter view content.${quoteIdentifier(name)} rename column ${quoteIdentifier(from)} to ${quoteIdentifier(to)}`,
  );
}

/** Creates every view on the tables of the live schema, after a rebuilt schema has taken its name. */
export async function recreateViews(run: InTransaction, target: Target): Promise<void> {
  const types = await run((tx) => readContentTypes(tx, LIVE, { live: true }));
  for (const names of chunks([...new Set(types.map(({ name }) => name))], TABLES_PER_TRANSACTION))
    await run(async (tx) => {
      for (const name of names) await refreshView(tx, target, { name });
    });
}

async function viewColumns(queryable: Queryable, name: string): Promise<readonly string[]> {
  const rows = await queryable.query<{ name: string }>(
    `select a.attname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
     join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'content' and c.relname = $1 and c.relkind = 'v' and a.attnum > 0 and not a.attisdropped
     order by a.attnum`,
    [name],
  );
  return rows.map((row) => row.name);
}
