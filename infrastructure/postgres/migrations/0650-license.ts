import type { Migration } from './migration.ts';

/**
 * The id of the installation and the sealed license received at run time (renewed by hand or exchanged), in one row for
 * all processes.
 */
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
