import type { Migration } from './migration.ts';

/** Which process touched a claim last: what a dead one left may be judged sooner than what a living one is still at. */
export const claimsInstance: Migration = {
  id: '0204-claims-instance',
  sql: `
    alter table operational.claims add column instance text not null default '';
    comment on column operational.claims.instance is 'Name of the process that touched the claim last';
  `,
};
