import type { TableUse } from '../../../domain/content/schema-diff.ts';
import type { PlacedOperation, SchemaOperation } from '../../../domain/content/schema-operation.ts';
import { projectedStatement } from '../../../domain/content/table-ddl.ts';
import { useOf } from '../../../domain/content/table-shape.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { Target } from '../../engine/projection.ts';
import { LIVE, readContentTypes } from './rows.ts';
import { dropView } from './views.ts';

/** Operations that PostgreSQL refuses while a view shows the table as it was. */
const WITHOUT_VIEW: ReadonlySet<SchemaOperation['op']> = new Set(['convert_column', 'drop_column', 'drop_link', 'drop_empty_column', 'drop_empty_table']);

/** Whether the view must go before the operation. */
export function isWithoutView({ op }: SchemaOperation): boolean {
  return WITHOUT_VIEW.has(op);
}

/** Runs operations in the target schema. A live table's view goes where it would be in the way; whoever calls puts it up again. */
export async function runOperations(tx: Transaction, { schema }: Target, operations: readonly PlacedOperation[]): Promise<void> {
  for (const { table, operation } of operations) {
    if (schema === LIVE && isWithoutView(operation)) await dropView(tx, table);
    await tx.query(projectedStatement(operation, { schema, table }));
  }
}

/** Operations in one table. */
export function placed(table: string, operations: readonly SchemaOperation[]): readonly PlacedOperation[] {
  return operations.map((operation) => ({ table, operation }));
}

/** What other live content types keep in the table of a name, as the target schema knows them. */
export async function otherUses(tx: Transaction, { schema }: Target, { name, typeId }: { readonly name: string; readonly typeId: string }): Promise<readonly TableUse[]> {
  return (await readContentTypes(tx, schema, { name, live: true })).filter(({ id }) => id !== typeId).map(useOf);
}
