import type { Migration } from './migration.ts';

/** The install's id, and the license that it came by while it ran (renewed by hand, or exchanged), sealed: one row for every process. */
export const license: Migration = {
  id: '0650-license',
  sql: `
    create table operational.license (
      only_row boolean primary key default true check (only_row),
      install_id uuid not null,
      content jsonb,
      version bigint not null default 0
    )`,
};
