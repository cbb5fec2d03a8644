import type { Migration } from './migration.ts';

/**
 * Counters of calls in time windows, shared by all processes. The table is unlogged, because counters may be lost in a
 * crash.
 */
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
