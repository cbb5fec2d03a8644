import type { Migration } from './migration.ts';

/** The tenant and size of each set, so that the sets of a tenant have a bound. */
export const pastSetsOfTenants: Migration = {
  id: '0351-past-sets-of-tenants',
  sql: `
    alter table operational.past_sets
      add column tenant_id text not null default '',
      add column bytes bigint not null default 0;
    create index past_sets_tenant on operational.past_sets (tenant_id, used_at);
    comment on column operational.past_sets.bytes is 'Bytes of the JSON of its entries';
  `,
};
