import type { Migration } from './migration.ts';

/** Calls counted in windows of time, shared by the replicas. They need not outlive a restart (spec 4 A, settings and limits), so nothing is logged of them. */
export const rateCounters: Migration = {
  id: '0205-rate-counters',
  sql: `
    create unlogged table operational.rate_counters (
      counter bytea primary key,
      taken integer not null,
      ends_at timestamptz not null
    );
    create index rate_counters_end on operational.rate_counters (ends_at);
    comment on column operational.rate_counters.counter is 'Keyed digest of what is counted: a scope may name an address or an e-mail';
  `,
};
