import type { ColumnType, ScalarColumnType } from './field-types.ts';

/** A column of a content type's table. */
export type Column = { readonly name: string; readonly type: ColumnType };

/**
 * An index of a content type's table: of one column, or of status and creation time. It begins with the tenant and ends
 * with the id.
 */
export type TableIndex = { readonly kind: 'column'; readonly column: Column } | { readonly kind: 'status' };

/** An operation and the table that it changes. */
export type PlacedOperation = { readonly table: string; readonly operation: SchemaOperation };

/**
 * One change of a content type's table as data. The port `SchemaRenderer` renders it for the live read model; a
 * projector renders it for the schema that it fills. Operations are stored in events, so the existing variants must
 * stay readable.
 */
export type SchemaOperation =
  | { readonly op: 'create_table'; readonly columns: readonly Column[] }
  | { readonly op: 'add_column'; readonly column: Column }
  | {
      readonly op: 'convert_column';
      readonly column: string;
      readonly from: ScalarColumnType;
      readonly to: ScalarColumnType;
    }
  | { readonly op: 'create_index'; readonly index: TableIndex }
  | { readonly op: 'drop_index'; readonly index: TableIndex }
  /**
   * The `…_link` operations occur only in old logs, in which a many_to_many relation had a table. They now mean its
   * column.
   */
  | { readonly op: 'create_link'; readonly field: string }
  /**
   * A table or column that no other type uses is renamed with its indexes. Otherwise only the tenant's rows or values
   * are moved.
   */
  | { readonly op: 'rename_table'; readonly to: string; readonly indexes: readonly TableIndex[] }
  | { readonly op: 'rename_column'; readonly from: string; readonly column: Column }
  | { readonly op: 'move_rows'; readonly to: string; readonly columns: readonly Column[]; readonly tenant: string }
  | { readonly op: 'move_values'; readonly from: Column; readonly to: Column; readonly tenant: string }
  /** Restores the entries that were kept when their type was deleted. `at`: the time of that deletion. */
  | { readonly op: 'restore_rows'; readonly at: string }
  /** Drops a table or column that no type uses; it holds no value. */
  | { readonly op: 'drop_empty_table'; readonly columns: readonly Column[]; readonly indexes: readonly TableIndex[] }
  | { readonly op: 'drop_empty_column'; readonly column: Column }
  /**
   * The remaining operations are destructive. In a column that another tenant uses, only the tenant's own values are
   * cleared.
   */
  | { readonly op: 'drop_column'; readonly column: Column; readonly indexed?: boolean }
  | { readonly op: 'clear_column'; readonly column: Column; readonly tenant: string }
  | { readonly op: 'drop_link'; readonly field: string }
  | { readonly op: 'clear_link'; readonly field: string; readonly tenant: string }
  /** Soft delete was turned off: the soft-deleted entries are removed. */
  | { readonly op: 'purge_deleted'; readonly tenant: string }
  /** Draft and publish was turned off: every entry becomes published. */
  | { readonly op: 'publish_all'; readonly tenant: string };

const DESTRUCTIVE: ReadonlySet<SchemaOperation['op']> = new Set([
  'drop_column',
  'clear_column',
  'drop_link',
  'clear_link',
  'purge_deleted',
  'publish_all',
]);

/**
 * Whether the operation loses values. Destructive operations are queued as pending statements; the others are applied
 * at once.
 */
export function isDestructive({ op }: SchemaOperation): boolean {
  return DESTRUCTIVE.has(op);
}

/** The column whose values an operation removes; undefined for an operation that removes no column's values. */
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
