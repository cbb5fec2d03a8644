import type { RenderedOperation } from '../../../application/ports/schema-renderer.ts';
import type { ColumnType, ScalarColumnType } from '../../../domain/content/field-types.ts';
import type { Column, SchemaOperation, TableIndex } from '../../../domain/content/schema-operation.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import { lossCondition, strictConversion, totalConversion } from './column-conversion.ts';
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

const NO_UNDO = '-- cannot be undone: the values are deleted from the table and remain in the history';

/** Renders an operation: description, SQL, and SQL that undoes it. */
export function renderOperation(operation: SchemaOperation, place: TablePlace): RenderedOperation {
  const table = tableName(place);
  const { table: type } = place;
  const rendered = (description: string, sql: string, down: string): RenderedOperation => ({
    description,
    sql,
    down_sql: down,
  });
  switch (operation.op) {
    case 'create_table':
      return rendered(`Create the table of ${type}`, createTable(place, operation.columns), `drop table ${table}`);
    case 'add_column': {
      const { name, type: sqlType } = operation.column;
      return rendered(
        `Add column ${name} (${sqlType})`,
        addColumn(table, operation.column),
        `alter table ${table} drop column ${quoteIdentifier(name)}`,
      );
    }
    case 'convert_column': {
      const { column, from, to } = operation;
      const [forth, back] = [
        alterType(table, column, to, strictConversion({ column, from, to })),
        alterType(table, column, from, strictConversion({ column, from: to, to: from })),
      ];
      return rendered(`Convert column ${column} from ${from} to ${to}`, forth, back);
    }
    case 'create_index':
      return rendered(
        `Index ${indexWords(operation.index)}`,
        createIndex(place, operation.index),
        dropIndex(place, operation.index),
      );
    case 'drop_index':
      return rendered(
        `Drop the index on ${indexWords(operation.index)}`,
        dropIndex(place, operation.index),
        createIndex(place, operation.index),
      );
    case 'create_link': {
      const column = linkColumn(operation.field);
      const sql = `${addColumn(table, column)};\n${createIndex(place, { kind: 'column', column })}`;
      return rendered(
        `Add column ${column.name} (${column.type})`,
        sql,
        `alter table ${table} drop column ${quoteIdentifier(column.name)}`,
      );
    }
    case 'rename_table': {
      const { to, indexes } = operation;
      return rendered(
        `Rename the table to ${to}`,
        renameTable(place, to, indexes),
        renameTable({ ...place, table: to }, type, indexes),
      );
    }
    case 'rename_column': {
      const { from, column } = operation;
      return rendered(
        `Rename column ${from} to ${column.name}`,
        renameColumn(place, from, column),
        renameColumn(place, column.name, { ...column, name: from }),
      );
    }
    case 'move_rows': {
      const { to, columns, tenant } = operation;
      return rendered(
        `Move the entries to ${to}`,
        moveRows(place, to, columns, tenant),
        moveRows({ ...place, table: to }, type, columns, tenant),
      );
    }
    case 'move_values': {
      const { from, to, tenant } = operation;
      return rendered(
        `Move the values of ${from.name} to ${to.name}`,
        moveValues(table, from, to, tenant),
        moveValues(table, to, from, tenant),
      );
    }
    case 'restore_rows': {
      const at = `${moment(operation.at)}::timestamptz`;
      return rendered(
        'Restore the retained entries',
        `update ${table} set "_deleted_at" = null where "_deleted_at" = ${at}`,
        `update ${table} set "_deleted_at" = ${at} where "_deleted_at" is null`,
      );
    }
    case 'drop_empty_table': {
      const { columns, indexes } = operation;
      return rendered(
        `Drop the empty table of ${type}`,
        `drop table ${table}`,
        [createTable(place, columns), ...indexes.map((index) => createIndex(place, index))].join(';\n'),
      );
    }
    case 'drop_empty_column': {
      const { column } = operation;
      return rendered(
        `Drop the unused column ${column.name}`,
        `alter table ${table} drop column if exists ${quoteIdentifier(column.name)}`,
        addColumn(table, column),
      );
    }
    case 'drop_column': {
      const column = quoteIdentifier(operation.column.name);
      const index =
        operation.indexed === true ? [createIndex(place, { kind: 'column', column: operation.column })] : [];
      return rendered(
        `Drop column ${operation.column.name}`,
        `alter table ${table} drop column ${column}`,
        [addColumn(table, operation.column), ...index, NO_UNDO].join(';\n'),
      );
    }
    case 'clear_column': {
      const column = quoteIdentifier(operation.column.name);
      const rows = `tenant_id = ${literal(operation.tenant)}`;
      const sql = `update ${table} set ${column} = ${emptyOf(operation.column)} where ${rows}`;
      return rendered(`Clear column ${operation.column.name}, which another tenant's ${type} uses too`, sql, NO_UNDO);
    }
    case 'drop_link':
      return renderOperation({ op: 'drop_column', column: linkColumn(operation.field) }, place);
    case 'clear_link':
      return renderOperation(
        { op: 'clear_column', column: linkColumn(operation.field), tenant: operation.tenant },
        place,
      );
    case 'purge_deleted': {
      const sql = `delete from ${table} where tenant_id = ${literal(operation.tenant)} and "_deleted_at" is not null`;
      return rendered('Turn off soft delete: removes the deleted entries', sql, NO_UNDO);
    }
    case 'publish_all': {
      const rows = `tenant_id = ${literal(operation.tenant)} and "_status" <> 'published'`;
      const sql = `update ${table} set "_status" = 'published' where ${rows}`;
      return rendered('Turn off draft and publish: every entry counts as published', sql, NO_UNDO);
    }
    default:
      return unknownOperation(operation);
  }
}

/**
 * The statement that a projector runs. Unlike the rendered statement it never fails because of a value: a value that
 * was written after the trial and does not convert becomes null in the column; the history keeps it.
 */
export function projectedStatement(operation: SchemaOperation, place: TablePlace): string {
  // Drops the views too that other programs have created on the column since the trial.
  if (operation.op === 'drop_column' || operation.op === 'drop_empty_column' || operation.op === 'drop_empty_table')
    return `${renderOperation(operation, place).sql} cascade`;
  if (operation.op !== 'convert_column') return renderOperation(operation, place).sql;
  const { column, from, to } = operation;
  return alterType(tableName(place), column, to, totalConversion({ schema: place.schema, column, from, to }));
}

/**
 * SQL that selects, as `found`, whether a conversion would lose a value.
 * @returns undefined when every value converts
 */
export function lossQuery(
  place: TablePlace,
  operation: Extract<SchemaOperation, { readonly op: 'convert_column' }>,
): string | undefined {
  const condition = lossCondition({ schema: place.schema, ...operation });
  return condition === undefined
    ? undefined
    : `select exists (select 1 from ${tableName(place)} where ${condition}) as found`;
}

function tableName({ schema, table }: TablePlace): string {
  return `${schema}.${quoteIdentifier(table)}`;
}

function createTable(place: TablePlace, columns: readonly Column[]): string {
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

function addColumn(table: string, { name, type }: Column): string {
  return `alter table ${table} add column if not exists ${quoteIdentifier(name)} ${typeSql(type)}`;
}

/** A list is never null: an entry without links has an empty list. */
function typeSql(type: ColumnType): string {
  return type === 'uuid[]' ? `uuid[] not null default '{}'` : type;
}

function linkColumn(field: string): Column {
  return { name: field, type: 'uuid[]' };
}

function alterType(table: string, column: string, to: ScalarColumnType, using: string): string {
  return `alter table ${table} alter column ${quoteIdentifier(column)} type ${to} using ${using}`;
}

function createIndex(place: TablePlace, index: TableIndex): string {
  const [table, name] = [tableName(place), quoteIdentifier(indexName(place.table, index))];
  if (index.kind === 'column' && index.column.type === 'uuid[]')
    return `create index if not exists ${name} on ${table} using gin (${quoteIdentifier(index.column.name)})`;
  const keys =
    index.kind === 'status'
      ? '"_status", "_created_at" desc'
      : indexedExpression(index.column.type, quoteIdentifier(index.column.name));
  return `create index if not exists ${name} on ${table} (tenant_id, ${keys}, id)`;
}

function dropIndex(place: TablePlace, index: TableIndex): string {
  return `drop index if exists ${place.schema}.${quoteIdentifier(indexName(place.table, index))}`;
}

function renameTable(place: TablePlace, to: string, indexes: readonly TableIndex[]): string {
  const names = dependentNames(to, indexes);
  const renames = dependentNames(place.table, indexes).map(
    (from, at) =>
      `alter index if exists ${place.schema}.${quoteIdentifier(from)} rename to ${quoteIdentifier(names[at] ?? from)}`,
  );
  return [`alter table ${tableName(place)} rename to ${quoteIdentifier(to)}`, ...renames].join(';\n');
}

function renameColumn(place: TablePlace, from: string, to: Column): string {
  const [before, after] = [from, to.name].map((name) =>
    quoteIdentifier(indexName(place.table, { kind: 'column', column: { ...to, name } })),
  );
  return [
    `alter table ${tableName(place)} rename column ${quoteIdentifier(from)} to ${quoteIdentifier(to.name)}`,
    `alter index if exists ${place.schema}.${before ?? ''} rename to ${after ?? ''}`,
  ].join(';\n');
}

function moveRows(place: TablePlace, to: string, columns: readonly Column[], tenant: string): string {
  const names = [...SYSTEM_COLUMNS, ...columns].map(({ name }) => quoteIdentifier(name)).join(', ');
  const target = tableName({ ...place, table: to });
  return [
    `with moved as (delete from ${tableName(place)} where tenant_id = ${literal(tenant)} returning ${names})`,
    `insert into ${target} (${names}) select ${names} from moved`,
  ].join('\n');
}

function moveValues(table: string, from: Column, to: Column, tenant: string): string {
  const [old, fresh] = [quoteIdentifier(from.name), quoteIdentifier(to.name)];
  return `update ${table} set ${fresh} = ${old}, ${old} = ${emptyOf(from)} where tenant_id = ${literal(tenant)}`;
}

function emptyOf({ type }: Column): string {
  return type === 'uuid[]' ? `'{}'` : 'null';
}

function indexWords(index: TableIndex): string {
  return index.kind === 'status' ? 'status and creation time' : index.column.name;
}

/**
 * Slugs of tenants contain no quotes, so they need no escaping.
 * @throws RangeError for other text
 */
function literal(tenant: string): string {
  if (!/^[a-z][a-z0-9_]*$/.test(tenant)) throw new RangeError('not a tenant');
  return `'${tenant}'`;
}

/**
 * RFC 3339 in UTC.
 * @throws RangeError for other text
 */
function moment(at: string): string {
  if (!/^[0-9T:.-]+Z$/.test(at)) throw new RangeError('not a moment');
  return `'${at}'`;
}

function unknownOperation(operation: never): never {
  throw new TypeError(`unknown operation: ${JSON.stringify(operation)}`);
}
