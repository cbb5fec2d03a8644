import type { ColumnType, ScalarColumnType } from '../../../domain/content/field-types.ts';
import type { Column, TableIndex } from '../../../domain/content/schema-operation.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import { indexedExpression } from './column-sql.ts';
import {
  changedIndexName,
  createdIndexName,
  dependentNames,
  indexName,
  primaryKeyName,
  slugIndexName,
} from './index-names.ts';
import { SYSTEM_COLUMNS, type SystemColumn } from './system-columns.ts';

/** Where an operation is rendered: the quoted schema and the name of the table. */
export type TablePlace = { readonly schema: string; readonly table: string };

export function tableName({ schema, table }: TablePlace): string {
  return `${schema}.${quoteIdentifier(table)}`;
}

export function createTable(place: TablePlace, columns: readonly Column[]): string {
  const table = tableName(place);
  const lines = [
    ...SYSTEM_COLUMNS.map(systemColumnSql),
    ...columns.map(({ name, type }) => `${quoteIdentifier(name)} ${typeSql(type)}`),
    `constraint ${quoteIdentifier(primaryKeyName(place.table))} primary key (id)`,
  ];
  const [created, slug, changed] = [createdIndexName, slugIndexName, changedIndexName].map((nameOf) =>
    quoteIdentifier(nameOf(place.table)),
  );
  return [
    `create table if not exists ${table} (\n  ${lines.join(',\n  ')}\n)`,
    `create index if not exists ${created} on ${table} (tenant_id, "_created_at" desc, id)`,
    `create index if not exists ${slug} on ${table} (tenant_id, "_slug") where "_slug" is not null`,
    // A BRIN index covers ranges of pages, so an update costs little and can stay in its page.
    `create index if not exists ${changed} on ${table} using brin ("_updated_at", "_position") ` +
      'with (pages_per_range = 32, autosummarize = on)',
  ].join(';\n');
}

function systemColumnSql({ name, type, constraint }: SystemColumn): string {
  return `${quoteIdentifier(name)} ${type}${constraint === undefined ? '' : ` ${constraint}`}`;
}

export function addColumn(table: string, { name, type }: Column): string {
  return `alter table ${table} add column if not exists ${quoteIdentifier(name)} ${typeSql(type)}`;
}

export function dropColumn(table: string, name: string): string {
  return `alter table ${table} drop column ${quoteIdentifier(name)}`;
}

/** A list is never null: an entry without links has an empty list. */
function typeSql(type: ColumnType): string {
  return type === 'uuid[]' ? `uuid[] not null default '{}'` : type;
}

export function alterType({
  table,
  column,
  to,
  using,
}: {
  readonly table: string;
  readonly column: string;
  readonly to: ScalarColumnType;
  readonly using: string;
}): string {
  return `alter table ${table} alter column ${quoteIdentifier(column)} type ${to} using ${using}`;
}

export function createIndex(place: TablePlace, index: TableIndex): string {
  const [table, name] = [tableName(place), quoteIdentifier(indexName(place.table, index))];
  if (index.kind === 'column' && index.column.type === 'uuid[]')
    return `create index if not exists ${name} on ${table} using gin (${quoteIdentifier(index.column.name)})`;
  const keys =
    index.kind === 'status'
      ? '"_status", "_created_at" desc'
      : indexedExpression(index.column.type, quoteIdentifier(index.column.name));
  return `create index if not exists ${name} on ${table} (tenant_id, ${keys}, id)`;
}

export function dropIndex(place: TablePlace, index: TableIndex): string {
  return `drop index if exists ${place.schema}.${quoteIdentifier(indexName(place.table, index))}`;
}

export function renameTable(place: TablePlace, to: string, indexes: readonly TableIndex[]): string {
  const names = dependentNames(to, indexes);
  const renames = dependentNames(place.table, indexes).map(
    (from, at) =>
      `alter index if exists ${place.schema}.${quoteIdentifier(from)} rename to ${quoteIdentifier(names[at] ?? from)}`,
  );
  return [`alter table ${tableName(place)} rename to ${quoteIdentifier(to)}`, ...renames].join(';\n');
}

export function renameColumn(place: TablePlace, from: string, to: Column): string {
  const [before, after] = [from, to.name].map((name) =>
    quoteIdentifier(indexName(place.table, { kind: 'column', column: { ...to, name } })),
  );
  return [
    `alter table ${tableName(place)} rename column ${quoteIdentifier(from)} to ${quoteIdentifier(to.name)}`,
    `alter index if exists ${place.schema}.${before ?? ''} rename to ${after ?? ''}`,
  ].join(';\n');
}
