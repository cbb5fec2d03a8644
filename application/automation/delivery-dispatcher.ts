import { createWaker } from '../concurrency/waker.ts';
import type { Logger } from '../ports/logger.ts';
import type { Metrics } from '../ports/metrics.ts';
import { reasonOf } from '../ports/transient-errors.ts';
import type { ReservedDelivery, WebhookQueue } from '../ports/webhook-queue.ts';
import { type AttemptDependencies, attemptDelivery } from './attempt-delivery.ts';
import type { AttemptRecorder } from './attempt-recorder.ts';

/** All times are in milliseconds. */
export type DeliveryDispatcherOptions = {
  /** Maximum number of requests in flight. Default: 64. */
  readonly concurrency?: number | undefined;
  /**
   * How long a reservation hides a delivery from other workers: longer than an attempt and its recording take.
   * After a crash another worker sends the delivery when its reservation expires. Default: 20,000.
   */
  readonly reservedMs?: number | undefined;
  /** Maximum time between two reads of the queue. Default: 30,000. */
  readonly pollMs?: number | undefined;
  /** Delay of a delivery after a local failure. Default: 15,000. */
  readonly postponeMs?: number | undefined;
  /**
   * A request that runs longer counts as slow. Slow requests of one webhook may use a quarter of `concurrency`.
   * Default: 1,000.
   */
  readonly slowMs?: number | undefined;
};

export type DeliveryDispatcherDependencies = AttemptDependencies &
  DeliveryDispatcherOptions & {
    readonly queue: WebhookQueue;
    readonly recorder: AttemptRecorder;
    readonly metrics: Metrics;
    readonly logger: Logger;
    /** Called at the start, after a delivery became a dead letter, and every few seconds. */
    readonly onDeadLetter: () => void;
  };

/** Reserves due deliveries of the queue and sends them. */
export type DeliveryDispatcher = {
  /** Reads the queue now, because a delivery may be due. */
  wake(): void;
  start(): void;
  /** Stops reserving. Resolves when every request in flight has ended and is recorded. */
  stop(): Promise<void>;
};

const REPORT_INTERVAL_MS = 5_000;
/** Delay of a delivery to a webhook that already has its share of slow requests. */
const CROWDED_MS = 2_000;

export function createDeliveryDispatcher(dependencies: DeliveryDispatcherDependencies): DeliveryDispatcher {
  const { queue, recorder, metrics, logger, onDeadLetter } = dependencies;
  const { concurrency = 64, reservedMs = 20_000, pollMs = 30_000, postponeMs = 15_000, slowMs = 1_000 } = dependencies;
  /** Minimum number of free slots for which the queue is read; also the limit of slow requests of one webhook. */
  const quarter = Math.max(1, Math.ceil(concurrency / 4));
  const slowRequests = new Map<string, number>();
  const inFlight = new Set<Promise<void>>();
  let running = false;
  let reportedAt = -Infinity;
  const waker = createWaker();
  let loop: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    while (running) {
      waker.reset();
      try {
        const free = concurrency - inFlight.size;
        // Reserve several deliveries at once: a reservation for every freed slot would cost more than the request.
        if (free < quarter) {
          await waker.wait(pollMs);
          continue;
        }
        const reserved = await queue.reserve({ limit: free, reservedMs });
        for (const delivery of reserved) launch(delivery);
        await reportDepthAndDeadLetters();
        if (reserved.length === free) continue;
        const dueInMs = await queue.nextDue();
        await waker.wait(Math.min(dueInMs === undefined ? pollMs : Math.max(dueInMs, 5), pollMs));
      } catch (error) {
        logger.error('the webhook queue could not be read', { reason: reasonOf(error) });
        await waker.wait(1_000);
      }
    }
  }

  /** Reports the depth of the queue, and announces dead letters that a crashed process left unannounced. */
  async function reportDepthAndDeadLetters(): Promise<void> {
    const time = dependencies.now().getTime();
    if (time - reportedAt < REPORT_INTERVAL_MS) return;
    reportedAt = time;
    metrics.queueDepth('webhooks', await queue.depth());
    onDeadLetter();
  }

  function launch(delivery: ReservedDelivery): void {
    const work = deliver(delivery)
      .catch((error: unknown) => {
        // The delivery becomes due again when its reservation expires.
        logger.error('a webhook delivery failed unexpectedly', {
          webhook_id: delivery.webhookId,
          reason: reasonOf(error),
        });
      })
      .finally(() => {
        inFlight.delete(work);
        if (concurrency - inFlight.size === quarter || inFlight.size === 0) waker.wake();
      });
    inFlight.add(work);
  }

  async function deliver(delivery: ReservedDelivery): Promise<void> {
    const { webhookId } = delivery;
    if ((slowRequests.get(webhookId) ?? 0) >= quarter) {
      await queue.postpone([delivery], { delayMs: CROWDED_MS, count: false });
      return;
    }
    const release = countWhenSlow(webhookId);
    try {
      const outcome = await attemptDelivery(delivery, dependencies);
      if (outcome.kind === 'discarded') {
        await queue.discard([delivery]);
      } else if (outcome.kind === 'postponed') {
        await queue.postpone([delivery], { delayMs: postponeMs, count: outcome.count });
      } else {
        const { record } = outcome;
        const recorded = await recorder.record(record);
        metrics.delivery('webhook', record.status, record.durationMs / 1000);
        if (record.next) waker.wake();
        if (recorded && record.status === 'dead') onDeadLetter();
      }
    } finally {
      release();
    }
  }

  /** Counts a request of the webhook as slow after `slowMs`. @returns a function to call when the request has ended */
  function countWhenSlow(webhookId: string): () => void {
    let counted = false;
    const timer = setTimeout(() => {
      counted = true;
      slowRequests.set(webhookId, (slowRequests.get(webhookId) ?? 0) + 1);
    }, slowMs);
    return () => {
      clearTimeout(timer);
      if (!counted) return;
      const left = (slowRequests.get(webhookId) ?? 1) - 1;
      if (left > 0) slowRequests.set(webhookId, left);
      else slowRequests.delete(webhookId);
    };
  }

  return {
    wake: waker.wake,
    start() {
      if (running) return;
      running = true;
      loop = run();
    },
    async stop() {
      running = false;
      waker.wake();
      await loop;
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
  };
}
