import type { TableUse } from '../../../domain/content/schema-diff.ts';
import type { PlacedOperation, SchemaOperation } from '../../../domain/content/schema-operation.ts';
import { tableUseOf } from '../../../domain/content/table-shape.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { Target } from '../../engine/projection.ts';
import { compactTable, needsCompaction } from './compact-table.ts';
import { projectedStatement } from './render-operation.ts';
import { readContentTypes } from './rows.ts';
import { dropView } from './views.ts';

/** Operations that PostgreSQL refuses while a view depends on the table. */
const REFUSED_UNDER_VIEW: ReadonlySet<SchemaOperation['op']> = new Set([
  'convert_column',
  'drop_column',
  'drop_link',
  'drop_empty_column',
  'drop_empty_table',
]);

/** Whether the view of the table must be dropped before the operation. */
export function requiresViewDrop({ op }: SchemaOperation): boolean {
  return REFUSED_UNDER_VIEW.has(op);
}

/**
 * Runs operations in the target schema, and writes a table again that dropped columns fill. Drops the view of a live
 * table where this requires it; the caller creates it again.
 */
export async function runOperations(
  tx: Transaction,
  target: Target,
  operations: readonly PlacedOperation[],
): Promise<void> {
  const { schema } = target;
  for (const { table, operation } of operations) {
    if (requiresViewDrop(operation)) await dropView(tx, { schema }, { name: table });
    await tx.query(projectedStatement(operation, { schema, table }));
  }
  for (const table of new Set(operations.map((placed) => placed.table))) {
    if (!(await needsCompaction(tx, target, table))) continue;
    await dropView(tx, target, { name: table });
    await compactTable(tx, target, table);
  }
}

/** The operations, each with the table that it applies to. */
export function placedOperations(table: string, operations: readonly SchemaOperation[]): readonly PlacedOperation[] {
  return operations.map((operation) => ({ table, operation }));
}

/** How the other live content types of this name use their common table, according to the target schema. */
export async function otherUses(
  tx: Transaction,
  { schema }: Target,
  { name, typeId }: { readonly name: string; readonly typeId: string },
): Promise<readonly TableUse[]> {
  return (await readContentTypes(tx, schema, { name, live: true })).filter(({ id }) => id !== typeId).map(tableUseOf);
}
