import type { RenderedOperation } from '../../../application/ports/schema-renderer.ts';
import type { Column, SchemaOperation, TableIndex } from '../../../domain/content/schema-operation.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import { strictConversion, totalConversion } from './column-conversion.ts';
import {
  clearValues,
  moveRows,
  moveValues,
  publishRows,
  purgeRows,
  restoreRows,
  retainRows,
} from './row-statements.ts';
import {
  type TablePlace,
  addColumn,
  alterType,
  createIndex,
  createTable,
  dropColumn,
  dropIndex,
  renameColumn,
  renameTable,
  tableName,
} from './table-statements.ts';

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
      return rendered(`Add column ${name} (${sqlType})`, addColumn(table, operation.column), dropColumn(table, name));
    }
    case 'convert_column': {
      const { column, from, to } = operation;
      const [forth, back] = [
        alterType({ table, column, to, using: strictConversion({ column, from, to }) }),
        alterType({ table, column, to: from, using: strictConversion({ column, from: to, to: from }) }),
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
      return rendered(`Add column ${column.name} (${column.type})`, sql, dropColumn(table, column.name));
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
        moveRows({ place, to, columns, tenant }),
        moveRows({ place: { ...place, table: to }, to: type, columns, tenant }),
      );
    }
    case 'move_values': {
      const { from, to, tenant } = operation;
      return rendered(
        `Move the values of ${from.name} to ${to.name}`,
        moveValues({ table, from, to, tenant }),
        moveValues({ table, from: to, to: from, tenant }),
      );
    }
    case 'restore_rows':
      return rendered(
        'Restore the retained entries',
        restoreRows(table, operation.at),
        retainRows(table, operation.at),
      );
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
      const index =
        operation.indexed === true ? [createIndex(place, { kind: 'column', column: operation.column })] : [];
      return rendered(
        `Drop column ${operation.column.name}`,
        dropColumn(table, operation.column.name),
        [addColumn(table, operation.column), ...index, NO_UNDO].join(';\n'),
      );
    }
    case 'clear_column': {
      const sql = clearValues(table, operation.column, operation.tenant);
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
      const sql = purgeRows(table, operation.tenant);
      return rendered('Turn off soft delete: removes the deleted entries', sql, NO_UNDO);
    }
    case 'publish_all': {
      const sql = publishRows(table, operation.tenant);
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
  return alterType({
    table: tableName(place),
    column,
    to,
    using: totalConversion({ schema: place.schema, column, from, to }),
  });
}

function linkColumn(field: string): Column {
  return { name: field, type: 'uuid[]' };
}

function indexWords(index: TableIndex): string {
  return index.kind === 'status' ? 'status and creation time' : index.column.name;
}

function unknownOperation(operation: never): never {
  throw new TypeError(`unknown operation: ${JSON.stringify(operation)}`);
}
