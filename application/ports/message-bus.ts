/** A message as Kafka carries it and the in-process bus delivers it. */
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
  /** 1 on the first attempt. */
  readonly attempt: number;
};

export type ConsumeOptions = {
  readonly topics: readonly string[];
  /** Consumer group: the members of a group share the messages; each group receives all messages. */
  readonly group: string;
  /**
   * Handles one message; must be idempotent by `ce_id`. When it throws, the message is retried with growing pauses;
   * after `maxAttempts` it is published to `<topic>.dlq` with the reason, and the consumer continues. A refusal
   * `message_unreadable` publishes it there immediately. During an outage (`isOutage`) the consumer waits without
   * counting attempts, so that an outage does not fill the dead-letter topic.
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
  /** Retains the last message of each key permanently; a null value deletes the key. */
  readonly compacted: boolean;
};

/** Headers added to a message on a dead-letter topic. Offsets and counts are decimal; times are RFC 3339. */
export const DEAD_LETTER_HEADERS = [
  'x-origin-topic',
  'x-origin-partition',
  'x-origin-offset',
  'x-group',
  'x-error',
  'x-attempts',
  'x-first-seen',
] as const;

/** @returns the topic for messages that a consumer of `topic` could not handle */
export function deadLetterTopic(topic: string): string {
  return `${topic}.dlq`;
}

/**
 * The port of the message bus. Delivers at least once, in order per key. Contract: `test/contract/message-bus.ts`.
 * Adapters: `infrastructure/message-bus/{in-process,kafka}`.
 */
export type MessageBus = {
  /** Creates missing topics and their `.dlq` topics. Retries until the broker responds or the signal aborts. */
  ensureTopics(topics: readonly TopicSpec[], signal?: AbortSignal): Promise<void>;
  /**
   * Resolves when the broker has acknowledged every message (acks all). Keeps the order per key, also across calls that
   * were not awaited. Topics must exist (`ensureTopics`).
   * @throws `unavailable` (some messages may have been stored: publish all of them again), `too_large`
   */
  publish(messages: readonly Message[]): Promise<void>;
  /**
   * Opens the publisher of this name. Fences the publisher that was opened under the name before, in any process: from
   * then on its messages are refused.
   * @throws `unavailable`
   */
  openPublisher(options: PublisherOptions): Promise<FencedPublisher>;
  /**
   * Resolves when the consumer has joined its group and receives messages. A new group starts with the oldest retained
   * message. All members of a group must consume the same topics.
   */
  consume(options: ConsumeOptions): Promise<Subscription>;
  /** @throws `unavailable` when the broker is unreachable */
  ping(): Promise<void>;
  /** Stops the consumers, waits for publishes in flight and disconnects, within about 10 seconds. */
  close(): Promise<void>;
};

export type PublisherOptions = {
  readonly name: string;
  /** The topics to which it publishes. */
  readonly topics: readonly string[];
};

/**
 * A publisher of which one per name can publish. After an error it is of no more use: close it and open another, which
 * fences what may still be under way.
 */
export type FencedPublisher = {
  /** Whether the topic takes a message of this size, as far as the publisher knows. */
  accepts(message: Message): boolean;
  /**
   * Publishes all messages or none, in order per key. Resolves when the broker has acknowledged all of them. Calls must
   * not overlap.
   * @throws `lease_lost` (another publisher of this name was opened), `too_large` and `message_refused` (the broker
   *   refuses one of the messages permanently), `unavailable` (the messages may have been stored)
   */
  publish(messages: readonly Message[]): Promise<void>;
  close(): Promise<void>;
};

export type Subscription = {
  /** Finishes the current message, commits its offset and leaves the group. */
  stop(): Promise<void>;
};
