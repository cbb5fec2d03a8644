import type { RecordedEvent } from '../../domain/event.ts';
import type { Database } from '../postgres/database.ts';

export type DeadEvent = {
  readonly worker: string;
  readonly event: RecordedEvent;
  /** Dead-letter topic that it would be published to with a message bus: `<prefix>.events.<category>.dlq`. */
  readonly topic: string;
  /** Contains no secrets or personal data. */
  readonly reason: string;
  readonly attempts: number;
  readonly firstSeen: Date;
};

export type DeadEvents = {
  /**
   * Stores a dead event with its reason. Storing the same event again replaces the reason. The event's data stays in
   * the event store.
   */
  store(dead: DeadEvent): Promise<void>;
};

const MAX_REASON_LENGTH = 1_000;

/** Creates the store of dead events, in `operational.dead_events`. */
export function createDeadEvents({ database }: { readonly database: Database }): DeadEvents {
  return {
    async store({ worker, event, topic, reason, attempts, firstSeen }) {
      await database.execute(
        `insert into operational.dead_events as d
           (worker, event_id, tenant_id, topic, position, reason, attempts, first_seen)
         values ($1, $2, $3, $4, $5, $6, $7, $8)
         on conflict (worker, event_id) do update
           set reason = excluded.reason, attempts = d.attempts + excluded.attempts, parked_at = clock_timestamp()`,
        [
          worker,
          event.id,
          event.metadata.tenant,
          topic,
          event.position,
          reason.replaceAll('\u0000', '').slice(0, MAX_REASON_LENGTH),
          attempts,
          firstSeen.toISOString(),
        ],
      );
    },
  };
}
