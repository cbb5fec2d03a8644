import type { TableUse } from './schema-diff.ts';
import type { PlacedOperation, SchemaOperation } from './schema-operation.ts';
import { reshape, tableShape } from './table-shape.ts';

/** A content type's way from one table into another. */
export type TableMove = {
  readonly from: string;
  readonly to: string;
  readonly tenant: string;
  readonly own: TableUse;
  /** The other content types on either table. */
  readonly othersThere: { readonly from: readonly TableUse[]; readonly to: readonly TableUse[] };
};

/**
 * Operations that take a type's entries into a table of another name: the table itself where nobody else uses either, else the tenant's rows
 * alone, into what the other table lacks and out of what the first one then has too much (spec 4 B, shared tables).
 */
export function moveOperations({ from, to, tenant, own, othersThere }: TableMove): readonly PlacedOperation[] {
  const shape = tableShape([own]);
  if (!shape) return [];
  if (othersThere.from.length === 0 && othersThere.to.length === 0) return [{ table: from, operation: { op: 'rename_table', to, indexes: shape.indexes } }];
  const at = (table: string) => (operation: SchemaOperation): PlacedOperation => ({ table, operation });
  return [
    ...reshape(tableShape(othersThere.to), tableShape([...othersThere.to, own])).map(at(to)),
    { table: from, operation: { op: 'move_rows', to, columns: shape.columns, tenant } },
    ...reshape(tableShape([...othersThere.from, own]), tableShape(othersThere.from)).map(at(from)),
  ];
}
