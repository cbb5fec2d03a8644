import type { Migration } from './migration.ts';

/** Entries at points in time, read from their streams for lists with `as_of`, and deleted when no longer used. */
export const pastEntries: Migration = {
  id: '0350-past-entries',
  sql: `
    create unlogged table operational.past_sets (
      id bigint generated always as identity primary key,
      used_at timestamptz not null default now()
    );
    create index past_sets_used on operational.past_sets (used_at);
    create unlogged table operational.past_entries (
      set_id bigint not null references operational.past_sets on delete cascade,
      entry_id uuid not null,
      state json,
      search tsvector,
      primary key (set_id, entry_id)
    );
    comment on column operational.past_entries.state is 'Row of the typed table at that moment; null: the entry was not there';
  `,
};
