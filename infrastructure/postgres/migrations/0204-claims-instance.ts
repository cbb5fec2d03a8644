import type { Migration } from './migration.ts';

/** The process that touched a claim last: claims of a process that has exited may be reaped sooner. */
export const claimsInstance: Migration = {
  id: '0204-claims-instance',
  sql: `
    alter table operational.claims add column instance text not null default '';
    comment on column operational.claims.instance is 'Name of the process that touched the claim last';
  `,
};
