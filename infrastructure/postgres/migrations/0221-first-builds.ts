import type { Migration } from './migration.ts';

/** Until which position a new read model must be filled before it is served. */
export const firstBuilds: Migration = {
  id: '0221-first-builds',
  sql: `
    alter table operational.projections
      add column served_from text collate "C" check (served_from ~ '^[0-9]{20}$');
    comment on column operational.projections.served_from is 'Head of the log when the empty tables were created; the read model is served once its checkpoint has reached it. Null: at once';
  `,
};
