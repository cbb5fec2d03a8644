import type { Column, SchemaOperation, TableIndex } from '../../domain/content/schema-operation.ts';

export const title: Column = { name: 'title', type: 'text' };
export const views: Column = { name: 'views', type: 'int8' };
export const tags: Column = { name: 'tags', type: 'uuid[]' };
const index = (column: Column): TableIndex => ({ kind: 'column', column });
export const indexes: readonly TableIndex[] = [index(title), index(tags), { kind: 'status' }];
export const moment = '2026-01-02T03:04:05.678Z';

/**
 * An operation of every kind. `loses`: it destroys values. By default it runs on a table with entries of two tenants;
 * `empty`: without entries; `absent`: without the table.
 */
export const SCHEMA_OPERATIONS: {
  readonly [op in SchemaOperation['op']]: {
    readonly operation: Extract<SchemaOperation, { readonly op: op }>;
    readonly on?: 'empty' | 'absent';
    readonly loses?: true;
  };
} = {
  create_table: { operation: { op: 'create_table', columns: [title, views, tags] }, on: 'absent' },
  add_column: { operation: { op: 'add_column', column: { name: 'more', type: 'jsonb' } } },
  convert_column: { operation: { op: 'convert_column', column: 'views', from: 'int8', to: 'text' } },
  create_index: { operation: { op: 'create_index', index: index(views) } },
  drop_index: { operation: { op: 'drop_index', index: index(title) } },
  create_link: { operation: { op: 'create_link', field: 'links' } },
  rename_table: { operation: { op: 'rename_table', to: 'story', indexes } },
  rename_column: { operation: { op: 'rename_column', from: 'title', column: { name: 'heading', type: 'text' } } },
  move_rows: { operation: { op: 'move_rows', to: 'story', columns: [title, views, tags], tenant: 'default' } },
  move_values: {
    operation: { op: 'move_values', from: title, to: { name: 'spare', type: 'text' }, tenant: 'default' },
  },
  restore_rows: { operation: { op: 'restore_rows', at: moment }, on: 'empty' },
  drop_empty_table: {
    operation: { op: 'drop_empty_table', columns: [title, views, tags, { name: 'spare', type: 'text' }], indexes },
    on: 'empty',
  },
  drop_empty_column: { operation: { op: 'drop_empty_column', column: { name: 'spare', type: 'text' } } },
  drop_column: { operation: { op: 'drop_column', column: title, indexed: true }, loses: true },
  clear_column: { operation: { op: 'clear_column', column: title, tenant: 'default' }, loses: true },
  drop_link: { operation: { op: 'drop_link', field: 'list' }, loses: true },
  clear_link: { operation: { op: 'clear_link', field: 'tags', tenant: 'default' }, loses: true },
  purge_deleted: { operation: { op: 'purge_deleted', tenant: 'default' }, loses: true },
  publish_all: { operation: { op: 'publish_all', tenant: 'default' }, loses: true },
};
