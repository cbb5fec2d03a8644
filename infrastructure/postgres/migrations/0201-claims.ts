import type { Migration } from './migration.ts';

/** Claims of unique values by streams. Only a keyed digest of each value is stored. */
export const claims: Migration = {
  id: '0201-claims',
  sql: `
    create table operational.claims (
      tenant_id text not null,
      scope text not null,
      value_hmac bytea not null,
      owner text not null,
      state text not null check (state in ('pending', 'confirmed')),
      claimed_at timestamptz not null default clock_timestamp(),
      unsettled_since timestamptz,
      primary key (tenant_id, scope, value_hmac)
    );
    create index claims_owner on operational.claims (owner);
    create index claims_unsettled on operational.claims (unsettled_since) where unsettled_since is not null;
    comment on column operational.claims.unsettled_since is 'Set while a command that takes or gives up the value is under way; the reaper settles what a crash left';
  `,
};
