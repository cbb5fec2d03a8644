import type { Column } from '../../../domain/content/schema-operation.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import { SYSTEM_COLUMNS } from './system-columns.ts';
import { type TablePlace, tableName } from './table-statements.ts';

/** Moves the rows of the tenant to another table, which has the same columns. */
export function moveRows({
  place,
  to,
  columns,
  tenant,
}: {
  readonly place: TablePlace;
  readonly to: string;
  readonly columns: readonly Column[];
  readonly tenant: string;
}): string {
  const names = [...SYSTEM_COLUMNS, ...columns].map(({ name }) => quoteIdentifier(name)).join(', ');
  const target = tableName({ ...place, table: to });
  return [
    `with moved as (delete from ${tableName(place)} where ${rowsOf(tenant)} returning ${names})`,
    `insert into ${target} (${names}) select ${names} from moved`,
  ].join('\n');
}

/** Moves the values of the tenant's rows to another column, which is then the only one that has them. */
export function moveValues({
  table,
  from,
  to,
  tenant,
}: {
  readonly table: string;
  readonly from: Column;
  readonly to: Column;
  readonly tenant: string;
}): string {
  const [old, fresh] = [quoteIdentifier(from.name), quoteIdentifier(to.name)];
  return `update ${table} set ${fresh} = ${old}, ${old} = ${emptyOf(from)} where ${rowsOf(tenant)}`;
}

/** Empties a column of the tenant's rows. */
export function clearValues(table: string, column: Column, tenant: string): string {
  return `update ${table} set ${quoteIdentifier(column.name)} = ${emptyOf(column)} where ${rowsOf(tenant)}`;
}

/** Restores the rows that were deleted softly at a moment. */
export function restoreRows(table: string, at: string): string {
  return `update ${table} set "_deleted_at" = null where "_deleted_at" = ${moment(at)}`;
}

/** Undoes `restoreRows`. */
export function retainRows(table: string, at: string): string {
  return `update ${table} set "_deleted_at" = ${moment(at)} where "_deleted_at" is null`;
}

/** Removes the rows of the tenant that were deleted softly. */
export function purgeRows(table: string, tenant: string): string {
  return `delete from ${table} where ${rowsOf(tenant)} and "_deleted_at" is not null`;
}

/** Publishes every row of the tenant. */
export function publishRows(table: string, tenant: string): string {
  return `update ${table} set "_status" = 'published' where ${rowsOf(tenant)} and "_status" <> 'published'`;
}

function emptyOf({ type }: Column): string {
  return type === 'uuid[]' ? `'{}'` : 'null';
}

/**
 * Condition for the rows of a tenant. Slugs of tenants contain no quotes, so they need no escaping.
 * @throws RangeError for other text
 */
function rowsOf(tenant: string): string {
  if (!/^[a-z][a-z0-9_]*$/.test(tenant)) throw new RangeError('not a tenant');
  return `tenant_id = '${tenant}'`;
}

/**
 * SQL of a moment, RFC 3339 in UTC.
 * @throws RangeError for other text
 */
function moment(at: string): string {
  if (!/^[0-9T:.-]+Z$/.test(at)) throw new RangeError('not a moment');
  return `'${at}'::timestamptz`;
}
