import type { RecordedEvent } from '../../domain/event.ts';
import type { Category } from '../../domain/stream.ts';

export type FeedOptions = {
  /** Name of the worker, such as `webhooks`: its consumer group or checkpoint. */
  readonly worker: string;
  readonly categories: readonly Category[];
  /**
   * Handles events of these categories, in order per stream. Must be idempotent by event id: every event comes at least once, and again
   * after a crash. Resolves when its effect is durable; only then does the feed move on.
   */
  readonly handle: (events: readonly RecordedEvent[]) => Promise<void>;
};

/**
 * Events for a worker, whichever way they travel (rule 10), so that a worker is written once. Two adapters: consumer groups on the message
 * bus (`infrastructure/message-bus/kafka-event-feed.ts`), and a follower of the event store with the worker's own checkpoint, which the
 * composition root makes where there is no Kafka.
 */
export type EventFeed = {
  /** Resolves when events are being received. A worker that is new starts with the oldest event kept. */
  start(options: FeedOptions): Promise<RunningFeed>;
};

export type RunningFeed = {
  /** Finishes the batch in hand and keeps the place. */
  stop(): Promise<void>;
};
