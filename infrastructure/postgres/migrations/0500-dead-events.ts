import type { Migration } from './migration.ts';

/**
 * Dead events: events that a worker could not handle, when workers follow the log without a message bus. The event's
 * data stays in the event store only.
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
