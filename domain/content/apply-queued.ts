import type { FieldDefinition, SchemaStatement } from './definition.ts';
import { keyOf } from './entry-fields.ts';
import { isStored } from './field-types.ts';
import { dropColumn, toStatement } from './schema-diff.ts';
import type { PendingStatement, TableUse } from './schema-diff.ts';
import type { Column, SchemaOperation } from './schema-operation.ts';
import { reshape, tableShape } from './table-shape.ts';

/** Column that a queued removal is about; undefined for what removes none. */
export function removedColumn(operation: SchemaOperation): Column | undefined {
  switch (operation.op) {
    case 'drop_column':
    case 'clear_column':
      return operation.column;
    case 'drop_link':
    case 'clear_link':
      return { name: operation.field, type: 'uuid[]' };
    default:
      return undefined;
  }
}

/** Where a queue is run: the type's table, its removed fields, and who else uses the table. */
export type QueuePlace = { readonly table: string; readonly tenant: string; readonly retained: readonly FieldDefinition[]; readonly others: readonly TableUse[] };

/**
 * A queued statement as it has to run now: whether a column goes or only the tenant's values in it is decided by who uses it today (spec 4 B,
 * shared tables).
 */
export function queuedStatement(queued: PendingStatement, { table, tenant, retained, others }: QueuePlace): SchemaStatement {
  const column = removedColumn(queued.operation);
  if (!column) return toStatement(queued.operation, table, queued.id);
  const shared = others.some(({ fields, retained }) => [...fields, ...retained].some((field) => isStored(field) && keyOf(field) === column.name));
  const field = retained.find((known) => isStored(known) && keyOf(known) === column.name);
  const drop = field ? dropColumn(field) : ({ op: 'drop_column', column } as const);
  return toStatement(shared ? { op: 'clear_column', column, tenant } : drop, table, queued.id);
}

/** The removed fields that a statement ends. */
export function endedFields(statements: readonly SchemaStatement[], retained: readonly FieldDefinition[]): readonly FieldDefinition[] {
  const columns = new Set(statements.map(({ operation }) => removedColumn(operation)?.name));
  return retained.filter((field) => columns.has(keyOf(field)));
}

/** What else the table has too much once the fields are gone: indexes on columns that others still use. */
export function afterRemoval(own: { readonly before: TableUse; readonly after: TableUse }, others: readonly TableUse[]): readonly SchemaOperation[] {
  return reshape(tableShape([own.before, ...others]), tableShape([own.after, ...others])).filter(isIndexOfStayingColumn);

  function isIndexOfStayingColumn(operation: SchemaOperation): boolean {
    if (operation.op !== 'drop_index' || operation.index.kind === 'status') return false;
    const { name } = operation.index.column;
    return tableShape([own.after, ...others])?.columns.some((column) => column.name === name) === true;
  }
}
