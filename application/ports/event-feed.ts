import type { RecordedEvent } from '../../domain/event.ts';
import type { Category } from '../../domain/stream.ts';

export type FeedOptions = {
  /** Name of the worker, such as `webhooks`; names its consumer group or checkpoint. */
  readonly worker: string;
  readonly categories: readonly Category[];
  /**
   * Handles events of these categories, in order per stream. Must be idempotent by event id: each event arrives at
   * least once, and again after a crash. The promise must resolve only when the effect is durable; the feed then
   * advances.
   */
  readonly handle: (events: readonly RecordedEvent[]) => Promise<void>;
};

/**
 * Delivers events to a worker independently of the transport. Two adapters: consumer groups on the message bus
 * (`infrastructure/message-bus/kafka-event-feed.ts`), and without Kafka a follower of the event store with a checkpoint
 * for each worker (`infrastructure/message-bus/following-event-feed.ts`).
 */
export type EventFeed = {
  /** Resolves when the worker receives events. A new worker starts with the oldest retained event. */
  start(options: FeedOptions): Promise<RunningFeed>;
};

export type RunningFeed = {
  /** Finishes the current batch and saves the checkpoint. */
  stop(): Promise<void>;
};
