import { isOutage } from '../../application/platform/outage.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Metrics } from '../../application/ports/metrics.ts';
import type { ConsumeOptions, Message, MessageBus, ReceivedMessage } from '../../application/ports/message-bus.ts';
import { deadLetterTopic } from '../../application/ports/message-bus.ts';
import { hasCode } from '../../domain/errors.ts';

/** Longest pause between attempts. */
export const MAX_DELAY_MS = 10_000;
const MAX_ERROR_LENGTH = 1_000;

export type DeliveryOptions = Pick<ConsumeOptions, 'group' | 'handler' | 'maxAttempts' | 'retryDelayMs'> & {
  readonly publish: MessageBus['publish'];
  readonly logger: Logger;
  readonly metrics?: Pick<Metrics, 'deadLettered'> | undefined;
  /** Waits; resolves false at once when the consumer is stopping. */
  readonly pause: (milliseconds: number) => Promise<boolean>;
};

/**
 * Brings one message to its end: handled, or laid among the dead letters after the last attempt. Both adapters do it this way.
 * @returns false when the consumer was stopped before the end: the message is not done, and comes again
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
      logger.warn('a message could not be handled', { ...place, attempt, outage, last, error: describe(error) });
      if (last && (await bury(error))) return true;
      if (!outage && !last) attempt += 1;
    }
    if (!(await pause(Math.min(retryDelayMs * 2 ** Math.min(round, 20), MAX_DELAY_MS)))) return false;
  }

  async function bury(error: unknown): Promise<boolean> {
    try {
      await publish([deadLetter(message, { group, error, attempts: attempt, firstSeen })]);
      logger.error('a message went to the dead letters', { ...place, attempts: attempt });
      metrics?.deadLettered?.(deadLetterTopic(message.topic));
      return true;
    } catch (failure) {
      // Better to handle it once more than to lose it.
      logger.error('a dead letter could not be published', { ...place, error: describe(failure) });
      return false;
    }
  }
}

function deadLetter(message: Omit<ReceivedMessage, 'attempt'>, why: { group: string; error: unknown; attempts: number; firstSeen: string }): Message {
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
      'x-error': describe(why.error).slice(0, MAX_ERROR_LENGTH),
      'x-attempts': String(why.attempts),
      'x-first-seen': why.firstSeen,
    },
  };
}

/** An error in one line, without its stack. */
export function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** Pauses that end early when the consumer stops. */
export function stoppablePause(stopping: AbortSignal): (milliseconds: number) => Promise<boolean> {
  return (milliseconds) =>
    new Promise((resolve) => {
      if (stopping.aborted) {
        resolve(false);
        return;
      }
      const timer = setTimeout(finish, milliseconds, true);
      const stopped = (): void => {
        finish(false);
      };
      stopping.addEventListener('abort', stopped, { once: true });
      function finish(elapsed: boolean): void {
        clearTimeout(timer);
        stopping.removeEventListener('abort', stopped);
        resolve(elapsed);
      }
    });
}
