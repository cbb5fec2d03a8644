/** A message as it travels: what Kafka carries, and what the in-process bus hands over (rule 10, decisions D). */
export type Message = {
  readonly topic: string;
  /** Partition key: the stream's name, or `<tenant>/<entry id>` for content changes. Never personal data. */
  readonly key: string;
  /** JSON text, or null for a tombstone on a compacted topic. */
  readonly value: string | null;
  /** CloudEvents headers (`ce_id`, `ce_type`, …) plus `tenant`, `correlation_id`, `schema_version`. */
  readonly headers: Readonly<Record<string, string>>;
};

export type ReceivedMessage = Message & {
  readonly partition: number;
  /** Decimal string. */
  readonly offset: string;
  /** 1 on the first try. */
  readonly attempt: number;
};

export type ConsumeOptions = {
  readonly topics: readonly string[];
  /** Consumer group: members of one group share the messages, each group gets all. */
  readonly group: string;
  /**
   * Handles one message; must be idempotent by `ce_id`. When it throws, the message is tried again with growing pauses;
   * after `maxAttempts` it goes to `<topic>.dlq` with the reason and the consumer goes on. A refusal `message_unreadable`
   * goes there at once. An outage (`application/platform/outage.ts`: the database or the broker is away) is waited out and
   * counts as no attempt, so that it never empties a topic into its dead letters.
   */
  readonly handler: (message: ReceivedMessage) => Promise<void>;
  /** Default 5. */
  readonly maxAttempts?: number;
  /** First pause between attempts in milliseconds, doubled each time up to 10 s. Default 200. */
  readonly retryDelayMs?: number;
};

export type TopicSpec = {
  readonly topic: string;
  readonly partitions: number;
  /** Keeps the last message of each key for ever; a null value deletes the key. */
  readonly compacted: boolean;
};

/** Headers that a dead letter carries beside those of its message. Offsets and counts are decimal; times RFC 3339. */
export const DEAD_LETTER_HEADERS = ['x-origin-topic', 'x-origin-partition', 'x-origin-offset', 'x-group', 'x-error', 'x-attempts', 'x-first-seen'] as const;

/** Where the messages go that a consumer of `topic` could not handle. */
export function deadLetterTopic(topic: string): string {
  return `${topic}.dlq`;
}

/**
 * The port of the message bus. At least once, in order per key. Contract: `test/contract/message-bus.ts`.
 * Adapters: `infrastructure/message-bus/{in-process,kafka}`.
 */
export type MessageBus = {
  /** Creates missing topics (and their `.dlq`); repeats until the broker answers or the signal ends it. */
  ensureTopics(topics: readonly TopicSpec[], signal?: AbortSignal): Promise<void>;
  /**
   * Resolves when the broker has taken every message (acks all). Keeps order per key, also between calls that were not awaited.
   * Topics must exist (`ensureTopics`). @throws `unavailable` (some messages may have been taken: repeat all), `too_large`
   */
  publish(messages: readonly Message[]): Promise<void>;
  /**
   * Resolves when the consumer is a member of its group and receives. A new group starts with the oldest message kept.
   * One group always has the same topics.
   */
  consume(options: ConsumeOptions): Promise<Subscription>;
  /** @throws `unavailable` when the broker can't be reached. */
  ping(): Promise<void>;
  /** Stops the consumers, waits for what is being sent, disconnects; at most about 10 seconds. */
  close(): Promise<void>;
};

export type Subscription = {
  /** Finishes the message in hand, commits, leaves the group. */
  stop(): Promise<void>;
};
