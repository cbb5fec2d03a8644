import { randomUUID } from 'node:crypto';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../../domain/automation/retry-policy.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import { oneAtATime } from '../concurrency/one-at-a-time.ts';
import type { ChangeOf } from '../content/entry-history.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Logger } from '../ports/logger.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Outbound } from '../ports/outbound.ts';
import type { Signals } from '../ports/signals.ts';
import type { Tracing } from '../ports/tracing.ts';
import { reasonOf } from '../ports/transient-errors.ts';
import type { WebhookQueue } from '../ports/webhook-queue.ts';
import { announceDeadLetters } from './announce-dead-letters.ts';
import { createAttemptRecorder } from './attempt-recorder.ts';
import { type HasStatus, buildMessages } from './build-messages.ts';
import { type DeliveryDispatcherOptions, createDeliveryDispatcher } from './delivery-dispatcher.ts';
import type { WebhookDirectory } from './webhook-directory.ts';

/** Categories of the streams that the worker follows. */
export const WEBHOOK_CATEGORIES = ['entry', 'content_type'] as const;

/** Signal channel on which processes wake each other's workers. */
const CHANNEL = 'webhooks';

/** Delays after which the queue is read when `handle` ran inside a transaction of the caller. */
const WAKE_AFTER_MS = [10, 50, 250] as const;

export type WebhookWorkerDependencies<Tx> = {
  readonly queue: WebhookQueue<Tx>;
  readonly directory: WebhookDirectory;
  readonly outbound: Outbound;
  readonly eventStore: EventStore;
  readonly changeOf: ChangeOf;
  readonly hasStatus: HasStatus;
  readonly signals?: Signals;
  readonly metrics: Metrics;
  readonly tracing?: Tracing | undefined;
  readonly logger: Logger;
  readonly now: () => Date;
  /** A new UUID v7. */
  readonly newId: () => string;
  /**
   * Returns a random number from 0 (included) to 1 (excluded), for the jitter of retries. Default: always 0, no jitter.
   */
  readonly random?: () => number;
  /** Default: `DEFAULT_RETRY_POLICY`. */
  readonly policy?: RetryPolicy;
  /** Time limit of a request in milliseconds. Default: 10,000. */
  readonly timeoutMs?: number;
  readonly dispatcher?: DeliveryDispatcherOptions;
};

/** Sends webhook requests for events of the log. A delivery is sent at least once; each attempt is recorded once. */
export type WebhookWorker<Tx> = {
  /**
   * Queues the deliveries that events cause. It is idempotent by event id. With `tx` the deliveries become visible when
   * that transaction commits; call `wake` after the commit.
   * @throws when the database or an entry's history cannot be read; nothing is queued then
   */
  handle(events: readonly RecordedEvent[], tx?: Tx): Promise<void>;
  /** Reads the queue now, because a delivery may be due. */
  wake(): void;
  /** Starts sending. */
  start(): void;
  /** Stops sending. Resolves when every request in flight has ended and is recorded. */
  stop(): Promise<void>;
};

export function createWebhookWorker<Tx>(dependencies: WebhookWorkerDependencies<Tx>): WebhookWorker<Tx> {
  const { queue, eventStore, signals, logger, now, policy = DEFAULT_RETRY_POLICY } = dependencies;
  let announcing: Promise<void> | undefined;
  let unsubscribe: (() => void) | undefined;

  const announce = oneAtATime(async () => {
    try {
      await announceDeadLetters({ now }, { queue, eventStore });
    } catch (error) {
      logger.error('a dead letter could not be announced; it will be retried', { reason: reasonOf(error) });
    }
  });

  const dispatcher = createDeliveryDispatcher({
    random: () => 0,
    ...dependencies,
    ...dependencies.dispatcher,
    policy,
    newNonce: randomUUID,
    recorder: createAttemptRecorder({ queue, logger }),
    onDeadLetter() {
      announcing = announce();
    },
  });

  /**
   * Finds the deliveries of a caller's transaction soon after its commit, even when the caller does not call `wake`.
   */
  function wakeSoon(): void {
    for (const ms of WAKE_AFTER_MS)
      setTimeout(() => {
        dispatcher.wake();
      }, ms).unref();
  }

  return {
    async handle(events, tx) {
      const messages = await buildMessages(events, dependencies);
      if (messages.length === 0) return;
      await queue.enqueue(messages, tx);
      if (tx !== undefined) {
        wakeSoon();
        return;
      }
      dispatcher.wake();
      signals?.publish(CHANNEL, '');
    },
    wake() {
      dispatcher.wake();
      signals?.publish(CHANNEL, '');
    },
    start() {
      unsubscribe ??= signals?.subscribe(CHANNEL, () => {
        dispatcher.wake();
      });
      dispatcher.start();
    },
    async stop() {
      unsubscribe?.();
      unsubscribe = undefined;
      await dispatcher.stop();
      await announcing;
    },
  };
}
