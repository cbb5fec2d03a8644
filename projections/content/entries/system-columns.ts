/** One column that every typed table has beside the columns of its fields. */
export type SystemColumn = { readonly name: string; readonly type: string };

/**
 * System columns of every typed table, in order; all their names start with `_` but the first two, so no field can collide.
 * `_created_by` and `_updated_by` hold `{"kind", "id"}`; the type is `json`, not `jsonb`, so that an answer takes the text over as it is.
 * Primary key: `id`. Lists need the index (`tenant_id`, `_created_at` desc, `id`). Unique values are held by claims (spec 5, rule 8), so a table
 * has neither unique constraints nor not-null checks on fields that a batch of events could break half-way.
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
];
