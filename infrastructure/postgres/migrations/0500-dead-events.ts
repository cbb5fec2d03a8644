import type { Migration } from './migration.ts';

/**
 * Events that a worker could not handle, where workers follow the log without a message bus (spec 5, rule 10). The event itself stays in the
 * event store, so its data is not repeated here.
 */
export const deadEvents: Migration = {
  id: '0500-dead-events',
  sql: `
    create table operational.dead_events (
      worker text not null,
      event_id uuid not null,
      tenant_id text not null,
      topic text not null,
      position text not null,
      reason text not null,
      attempts integer not null,
      first_seen timestamptz not null,
      parked_at timestamptz not null default clock_timestamp(),
      primary key (worker, event_id)
    );
    create index dead_events_newest on operational.dead_events (parked_at desc)`,
};
