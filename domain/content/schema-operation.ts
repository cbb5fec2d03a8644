import type { ColumnType, SqlType } from './field-types.ts';

/** A column of a typed table. */
export type Column = { readonly name: string; readonly type: ColumnType };

/** An index of a typed table, always led by the tenant and ended by the id: of one column, or of status and creation time. */
export type TableIndex = { readonly kind: 'column'; readonly column: Column } | { readonly kind: 'status' };

/**
 * One change of a content type's table as data: rendered for the live schema when it is shown and tried, for the target schema when a
 * projector applies it. Part of `ContentTypeSaved`, so a shape once shipped stays readable.
 */
export type SchemaOperation =
  | { readonly op: 'create_table'; readonly columns: readonly Column[] }
  | { readonly op: 'add_column'; readonly column: Column }
  | { readonly op: 'convert_column'; readonly column: string; readonly from: SqlType; readonly to: SqlType }
  | { readonly op: 'create_index'; readonly index: TableIndex }
  | { readonly op: 'drop_index'; readonly index: TableIndex }
  /** The `…_link` operations stand in logs of before a many_to_many was a column of its own; they mean that column. */
  | { readonly op: 'create_link'; readonly field: string }
  /** The rest is destructive. Where another tenant's type shares the column or link table, only the tenant's own values go. */
  | { readonly op: 'drop_column'; readonly column: Column }
  | { readonly op: 'clear_column'; readonly column: Column; readonly tenant: string }
  | { readonly op: 'drop_link'; readonly field: string }
  | { readonly op: 'clear_link'; readonly field: string; readonly tenant: string }
  /** `with_soft_delete` turned off: deleted entries that were kept go. */
  | { readonly op: 'purge_deleted'; readonly tenant: string }
  /** `with_draft_publish` turned off: every entry counts as published. */
  | { readonly op: 'publish_all'; readonly tenant: string };
