import type { Migration } from './migration.ts';

/** Keys per person, sealed under the installation's key. Destroying a key keeps its row with the time. */
export const personKeys: Migration = {
  id: '0300-person-keys',
  sql: `
    create table operational.person_keys (
      person_id text primary key,
      sealed_key jsonb,
      created_at timestamptz not null default now(),
      destroyed_at timestamptz,
      check ((sealed_key is null) = (destroyed_at is not null))
    )`,
};
