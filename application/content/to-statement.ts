import { type PlacedOperation, type SchemaOperation, isDestructive } from '../../domain/content/schema-operation.ts';
import type { SchemaStatement } from '../../domain/content/schema-statement.ts';
import type { SchemaRenderer } from '../ports/schema-renderer.ts';

type Dependencies = { readonly renderer: SchemaRenderer };

/** An operation as events carry it: with its id, rendered for the live read model. */
export function toStatement(
  { operation, table, id }: PlacedOperation & { readonly id: string },
  { renderer }: Dependencies,
): SchemaStatement {
  const { description, sql, down_sql } = renderer.render(operation, table);
  const destructive = isDestructive(operation) ? { destructive: true } : {};
  return { id, description, sql, down_sql, ...destructive, operation };
}

/** The statements of operations on the content type's own table. */
export function toStatements(
  {
    operations,
    table,
    newId,
  }: { readonly operations: readonly SchemaOperation[]; readonly table: string; readonly newId: () => string },
  dependencies: Dependencies,
): readonly SchemaStatement[] {
  return operations.map((operation) => toStatement({ operation, table, id: newId() }, dependencies));
}

/** The statements of operations on several tables. A statement names its table unless it is the content type's own. */
export function toPlacedStatements(
  {
    operations,
    ownTable,
    newId,
  }: { readonly operations: readonly PlacedOperation[]; readonly ownTable: string; readonly newId: () => string },
  dependencies: Dependencies,
): readonly SchemaStatement[] {
  return operations.map(({ table, operation }) => ({
    ...toStatement({ operation, table, id: newId() }, dependencies),
    ...(table === ownTable ? {} : { table }),
  }));
}
