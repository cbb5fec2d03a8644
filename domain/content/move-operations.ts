import type { TableUse } from './schema-diff.ts';
import type { PlacedOperation, SchemaOperation } from './schema-operation.ts';
import { reshape, tableShape } from './table-shape.ts';

/** The move of a content type's entries from one table to another. */
export type TableMove = {
  readonly from: string;
  readonly to: string;
  readonly tenant: string;
  readonly own: TableUse;
  /** The other content types in each table. */
  readonly others: { readonly from: readonly TableUse[]; readonly to: readonly TableUse[] };
};

/**
 * Operations that move a type's entries to a table with another name. The table is renamed when no other type uses
 * either table. Otherwise only the tenant's rows are moved: the target table is extended first, and the source table is
 * reduced afterwards.
 */
export function moveOperations({ from, to, tenant, own, others }: TableMove): readonly PlacedOperation[] {
  const shape = tableShape([own]);
  if (!shape) return [];
  if (others.from.length === 0 && others.to.length === 0)
    return [{ table: from, operation: { op: 'rename_table', to, indexes: shape.indexes } }];
  const at =
    (table: string) =>
    (operation: SchemaOperation): PlacedOperation => ({ table, operation });
  return [
    ...reshape(tableShape(others.to), tableShape([...others.to, own])).map(at(to)),
    { table: from, operation: { op: 'move_rows', to, columns: shape.columns, tenant } },
    ...reshape(tableShape([...others.from, own]), tableShape(others.from)).map(at(from)),
  ];
}
