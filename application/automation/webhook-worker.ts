import { randomUUID } from 'node:crypto';
import type { RetryPolicy } from '../../domain/automation/retry-policy.ts';
import { DEFAULT_RETRY_POLICY } from '../../domain/automation/retry-policy.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Logger } from '../ports/logger.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Outbound } from '../ports/outbound.ts';
import type { Tracing } from '../ports/tracing.ts';
import type { Signals } from '../ports/signals.ts';
import type { WebhookQueue } from '../ports/webhook-queue.ts';
import { announceDeadLetters } from './announce-dead-letters.ts';
import { createAttemptRecorder } from './attempt-recorder.ts';
import type { ChangeOf } from './build-messages.ts';
import { buildMessages } from './build-messages.ts';
import type { DeliveryPumpOptions } from './delivery-pump.ts';
import { createDeliveryPump } from './delivery-pump.ts';
import type { WebhookDirectory } from './webhook-directory.ts';

/** Categories of streams whose events the worker wants to see. */
export const WEBHOOK_CATEGORIES = ['entry', 'content_type'] as const;

/** Channel of the wake-ups between processes. */
const CHANNEL = 'webhooks';

const WAKE_AFTER_MS = [10, 50, 250] as const;

export type WebhookWorkerDependencies<Tx> = {
  readonly queue: WebhookQueue<Tx>;
  readonly directory: WebhookDirectory;
  readonly outbound: Outbound;
  readonly eventStore: EventStore;
  readonly changeOf: ChangeOf;
  readonly hasStatus: (tenant: string, typeId: string) => Promise<boolean> | boolean;
  readonly signals?: Signals;
  readonly metrics: Metrics;
  readonly tracing?: Tracing | undefined;
  readonly logger: Logger;
  readonly now: () => Date;
  /** A new UUID v7. */
  readonly newId: () => string;
  /** A number from 0 up to 1, another one each time. Default: 0, no spread. */
  readonly chance?: () => number;
  /** Default: the default policy of the specification. */
  readonly policy?: RetryPolicy;
  /** Default 10 s. */
  readonly timeoutMs?: number;
  readonly pump?: DeliveryPumpOptions;
};

/** Outbound webhooks: from events to requests (spec 3, webhooks). At least once; each attempt is recorded once. */
export type WebhookWorker<Tx> = {
  /**
   * Queues what the events make webhooks send; idempotent by event id. With `tx` it becomes visible when that commits: call `wake` then.
   * @throws when the database or an entry's history can't be read; nothing is queued then
   */
  handle(events: readonly RecordedEvent[], tx?: Tx): Promise<void>;
  /** Something may be due: looks at the queue at once. */
  wake(): void;
  /** Starts sending. */
  start(): void;
  /** Sends no more; resolves when the requests in flight are answered and recorded. */
  stop(): Promise<void>;
};

export function createWebhookWorker<Tx>(dependencies: WebhookWorkerDependencies<Tx>): WebhookWorker<Tx> {
  const { queue, eventStore, signals, logger, now, policy = DEFAULT_RETRY_POLICY } = dependencies;
  let announcing: Promise<void> | undefined;
  let announceAgain = false;
  let unsubscribe: (() => void) | undefined;

  const pump = createDeliveryPump(
    { chance: () => 0, ...dependencies, policy, newNonce: randomUUID, recorder: createAttemptRecorder({ queue, logger }), onDead: announce },
    dependencies.pump,
  );

  /** One at a time; a call during a run makes it run once more. */
  function announce(): void {
    announceAgain = true;
    announcing ??= runAnnouncements().finally(() => {
      announcing = undefined;
    });
  }

  async function runAnnouncements(): Promise<void> {
    while (announceAgain) {
      announceAgain = false;
      try {
        await announceDeadLetters({ queue, eventStore, now });
      } catch (error) {
        logger.error('a dead letter could not be announced; it is tried again', { error: String(error) });
      }
    }
  }

  /** The caller's transaction is about to commit; should it forget to call `wake`, this is what finds its deliveries. */
  function wakeSoon(): void {
    for (const ms of WAKE_AFTER_MS) setTimeout(() => { pump.wake(); }, ms).unref();
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
      pump.wake();
      signals?.publish(CHANNEL, '');
    },
    wake() {
      pump.wake();
      signals?.publish(CHANNEL, '');
    },
    start() {
      unsubscribe ??= signals?.subscribe(CHANNEL, () => {
        pump.wake();
      });
      pump.start();
    },
    async stop() {
      unsubscribe?.();
      unsubscribe = undefined;
      await pump.stop();
      await announcing;
    },
  };
}
