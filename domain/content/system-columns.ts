/** One column that every typed table has beside the columns of its fields. */
export type SystemColumn = { readonly name: string; readonly type: string };

/**
 * System columns of every typed table, in order. All names start with `_` but the first two, which no field may take. Actors are
 * `{"kind", "id"}` as `json`, not `jsonb`, so that an answer takes their text over as it is.
 */
export const SYSTEM_COLUMNS: readonly SystemColumn[] = [
  { name: 'id', type: 'uuid not null' },
  { name: 'tenant_id', type: 'text not null' },
  { name: '_version', type: 'int8 not null' },
  { name: '_status', type: 'text not null' },
  { name: '_slug', type: 'text' },
  { name: '_created_at', type: 'timestamptz(3) not null' },
  { name: '_updated_at', type: 'timestamptz(3) not null' },
  { name: '_published_at', type: 'timestamptz(3)' },
  { name: '_created_by', type: 'json not null' },
  { name: '_updated_by', type: 'json not null' },
  { name: '_deleted_at', type: 'timestamptz(3)' },
  /** Place of the entry's last event in the log. */
  { name: '_position', type: 'text collate "C" not null' },
];
