import type { Migration } from './migration.ts';

/** The command that touched a claim last, so that a late confirmation by another command leaves the claim unchanged. */
export const claimsFencing: Migration = {
  id: '0203-claims-fencing',
  sql: `
    alter table operational.claims add column command text not null default '', add column sole boolean not null default false;
    comment on column operational.claims.command is 'The command that touched the claim last; only that one may release it';
    comment on column operational.claims.sole is 'Made by that command and touched by no other: it may be taken back when the append failed';
  `,
};
