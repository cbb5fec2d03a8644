import type { ColumnType } from '../../../domain/content/field-types.ts';

/** A column that every content type's table has, besides the columns of its fields. */
export type SystemColumn = {
  readonly name: string;
  readonly type: ColumnType | 'json';
  /** Further SQL of the column's definition, such as `not null`. */
  readonly constraint?: string;
};

/**
 * The system columns of every content type's table, in order. All names but the first two start with `_`; no field can
 * have the first two names. Actors are stored as `json`, not `jsonb`, so that responses contain their text unchanged.
 */
export const SYSTEM_COLUMNS: readonly SystemColumn[] = [
  { name: 'id', type: 'uuid', constraint: 'not null' },
  { name: 'tenant_id', type: 'text', constraint: 'not null' },
  { name: '_version', type: 'int8', constraint: 'not null' },
  { name: '_status', type: 'text', constraint: 'not null' },
  { name: '_slug', type: 'text' },
  { name: '_created_at', type: 'timestamptz(3)', constraint: 'not null' },
  { name: '_updated_at', type: 'timestamptz(3)', constraint: 'not null' },
  { name: '_published_at', type: 'timestamptz(3)' },
  { name: '_created_by', type: 'json', constraint: 'not null' },
  { name: '_updated_by', type: 'json', constraint: 'not null' },
  { name: '_deleted_at', type: 'timestamptz(3)' },
  /** Position of the entry's last event. */
  { name: '_position', type: 'text', constraint: 'collate "C" not null' },
];
