import type { ColumnType, SqlType } from './field-types.ts';

/** A column of a typed table. */
export type Column = { readonly name: string; readonly type: ColumnType };

/** An index of a typed table, always led by the tenant and ended by the id: of one column, or of status and creation time. */
export type TableIndex = { readonly kind: 'column'; readonly column: Column } | { readonly kind: 'status' };

/** An operation and the table that it is done in. */
export type PlacedOperation = { readonly table: string; readonly operation: SchemaOperation };

/**
 * One change of a content type's table as data: rendered for the live schema when it is shown and tried, for the target schema when a
 * projector applies it. Part of events, so a shape once shipped stays readable.
 */
export type SchemaOperation =
  | { readonly op: 'create_table'; readonly columns: readonly Column[] }
  | { readonly op: 'add_column'; readonly column: Column }
  | { readonly op: 'convert_column'; readonly column: string; readonly from: SqlType; readonly to: SqlType }
  | { readonly op: 'create_index'; readonly index: TableIndex }
  | { readonly op: 'drop_index'; readonly index: TableIndex }
  /** The `…_link` operations stand in logs of before a many_to_many was a column of its own; they mean that column. */
  | { readonly op: 'create_link'; readonly field: string }
  /** Renames of types and fields: a table or column that nobody else uses takes the new name with its indexes, else the tenant's values move. */
  | { readonly op: 'rename_table'; readonly to: string; readonly indexes: readonly TableIndex[] }
  | { readonly op: 'rename_column'; readonly from: string; readonly column: Column }
  | { readonly op: 'move_rows'; readonly to: string; readonly columns: readonly Column[]; readonly tenant: string }
  | { readonly op: 'move_values'; readonly from: Column; readonly to: Column; readonly tenant: string }
  /** Entries that were kept when their type was deleted at that moment are there again. */
  | { readonly op: 'restore_rows'; readonly at: string }
  /** What nobody uses any more goes; it holds no value. */
  | { readonly op: 'drop_empty_table'; readonly columns: readonly Column[]; readonly indexes: readonly TableIndex[] }
  | { readonly op: 'drop_empty_column'; readonly column: Column }
  /** The rest is destructive. Where another tenant's type shares the column or link table, only the tenant's own values go. */
  | { readonly op: 'drop_column'; readonly column: Column; readonly indexed?: boolean }
  | { readonly op: 'clear_column'; readonly column: Column; readonly tenant: string }
  | { readonly op: 'drop_link'; readonly field: string }
  | { readonly op: 'clear_link'; readonly field: string; readonly tenant: string }
  /** `with_soft_delete` turned off: deleted entries that were kept go. */
  | { readonly op: 'purge_deleted'; readonly tenant: string }
  /** `with_draft_publish` turned off: every entry counts as published. */
  | { readonly op: 'publish_all'; readonly tenant: string };
