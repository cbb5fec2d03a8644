import type { Migration } from './migration.ts';

/** The events of an actor, for the audit log and for exports of personal data. */
export const eventsOfActors: Migration = {
  id: '0230-events-of-actors',
  sql: `create index events_actor on eventstore.events ((metadata -> 'actor' ->> 'id'), position)`,
};
