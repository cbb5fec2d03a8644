import type { Logger } from '../../application/ports/logger.ts';
import {
  type ConsumeOptions,
  type Message,
  type MessageBus,
  type ReceivedMessage,
  deadLetterTopic,
} from '../../application/ports/message-bus.ts';
import type { Metrics } from '../../application/ports/metrics.ts';
import { isOutage, reasonOf } from '../../application/ports/transient-errors.ts';
import { hasCode } from '../../domain/errors.ts';

/** Longest pause between attempts, in milliseconds. */
export const MAX_DELAY_MS = 10_000;
const MAX_ERROR_LENGTH = 1_000;

export type DeliveryOptions = Pick<ConsumeOptions, 'group' | 'handler' | 'maxAttempts' | 'retryDelayMs'> & {
  readonly publish: MessageBus['publish'];
  readonly logger: Logger;
  readonly metrics?: Pick<Metrics, 'deadLettered'> | undefined;
  /** Waits; resolves to false immediately when the consumer is stopping. */
  readonly pause: (milliseconds: number) => Promise<boolean>;
};

/**
 * Handles one message, with retries, or publishes it to the dead-letter topic after the last attempt. Used by both
 * adapters.
 * @returns false when the consumer was stopped first: the message is not done and is delivered again
 */
export async function deliver(message: Omit<ReceivedMessage, 'attempt'>, options: DeliveryOptions): Promise<boolean> {
  const { group, handler, publish, logger, metrics, pause, maxAttempts = 5, retryDelayMs = 200 } = options;
  const firstSeen = new Date().toISOString();
  const place = { topic: message.topic, partition: message.partition, offset: message.offset, group };
  let attempt = 1;
  for (let round = 0; ; round += 1) {
    try {
      await handler({ ...message, attempt });
      return true;
    } catch (error) {
      const outage = isOutage(error);
      const last = !outage && (attempt >= maxAttempts || hasCode(error, 'message_unreadable'));
      logger.warn('a message could not be handled', { ...place, attempt, outage, last, reason: reasonOf(error) });
      if (last && (await publishDeadLetter(error))) return true;
      if (!outage && !last) attempt += 1;
    }
    if (!(await pause(Math.min(retryDelayMs * 2 ** Math.min(round, 20), MAX_DELAY_MS)))) return false;
  }

  async function publishDeadLetter(error: unknown): Promise<boolean> {
    try {
      await publish([deadLetter(message, { group, error, attempts: attempt, firstSeen })]);
      logger.error('a message was published to the dead-letter topic', { ...place, attempts: attempt });
      metrics?.deadLettered?.(deadLetterTopic(message.topic));
      return true;
    } catch (failure) {
      // Retry the message rather than lose it.
      logger.error('a dead letter could not be published', { ...place, reason: reasonOf(failure) });
      return false;
    }
  }
}

function deadLetter(
  message: Omit<ReceivedMessage, 'attempt'>,
  why: { group: string; error: unknown; attempts: number; firstSeen: string },
): Message {
  return {
    topic: deadLetterTopic(message.topic),
    key: message.key,
    value: message.value,
    headers: {
      ...message.headers,
      'x-origin-topic': message.topic,
      'x-origin-partition': String(message.partition),
      'x-origin-offset': message.offset,
      'x-group': why.group,
      'x-error': describeError(why.error).slice(0, MAX_ERROR_LENGTH),
      'x-attempts': String(why.attempts),
      'x-first-seen': why.firstSeen,
    },
  };
}

/** Describes an error in one line, without its stack. */
export function describeError(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
