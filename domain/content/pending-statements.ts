import type { FieldDefinition } from './definition.ts';
import { keyOf } from './entry-fields.ts';
import { isStored } from './field-types.ts';
import { type TableUse, dropColumn } from './schema-diff.ts';
import { type SchemaOperation, removedColumn } from './schema-operation.ts';
import type { SchemaStatement } from './schema-statement.ts';
import { reshape, tableShape } from './table-shape.ts';

/** The table in which a pending operation runs: the type's removed fields, and how other types use the table. */
export type PendingContext = {
  readonly tenant: string;
  readonly retained: readonly FieldDefinition[];
  readonly others: readonly TableUse[];
};

/**
 * A pending operation as it has to run now. The column is dropped if no other tenant's type uses it now; otherwise only
 * the tenant's values in it are cleared.
 */
export function currentOperation(
  pending: SchemaOperation,
  { tenant, retained, others }: PendingContext,
): SchemaOperation {
  const column = removedColumn(pending);
  if (!column) return pending;
  const shared = others.some(({ fields, retained: kept }) =>
    [...fields, ...kept].some((field) => isStored(field) && keyOf(field) === column.name),
  );
  if (shared) return { op: 'clear_column', column, tenant };
  const field = retained.find((candidate) => isStored(candidate) && keyOf(candidate) === column.name);
  return field ? dropColumn(field) : { op: 'drop_column', column };
}

/** The retained fields whose values the statements remove. */
export function endedFields(
  statements: readonly SchemaStatement[],
  retained: readonly FieldDefinition[],
): readonly FieldDefinition[] {
  const columns = new Set(statements.map(({ operation }) => removedColumn(operation)?.name));
  return retained.filter((field) => columns.has(keyOf(field)));
}

/** Operations that drop the indexes that only the removed fields needed, on columns that other types still use. */
export function operationsAfterRemoval(
  own: { readonly before: TableUse; readonly after: TableUse },
  others: readonly TableUse[],
): readonly SchemaOperation[] {
  return reshape(tableShape([own.before, ...others]), tableShape([own.after, ...others])).filter(
    isIndexOfStayingColumn,
  );

  function isIndexOfStayingColumn(operation: SchemaOperation): boolean {
    if (operation.op !== 'drop_index' || operation.index.kind === 'status') return false;
    const { name } = operation.index.column;
    return tableShape([own.after, ...others])?.columns.some((column) => column.name === name) === true;
  }
}
