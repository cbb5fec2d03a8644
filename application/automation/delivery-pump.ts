import type { Logger } from '../ports/logger.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { ClaimedDelivery, WebhookQueue } from '../ports/webhook-queue.ts';
import type { AttemptDependencies } from './attempt-delivery.ts';
import { attemptDelivery } from './attempt-delivery.ts';
import type { AttemptRecorder } from './attempt-recorder.ts';

export type DeliveryPumpOptions = {
  /** Requests in flight. Default 64. */
  readonly concurrency?: number | undefined;
  /** How long a claim hides a delivery; longer than an attempt and its recording can take: what a killed worker held is sent by another one after this time. Default 20 s. */
  readonly leaseMs?: number | undefined;
  /** Longest sleep without a look at the queue (spec 3, limits). Default 30 s. */
  readonly pollMs?: number | undefined;
  /** Wait after a fault of ours. Default 15 s. */
  readonly postponeMs?: number | undefined;
  /** A request that runs so long counts as slow; those of one endpoint may hold a quarter of the slots. Default 1 s. */
  readonly slowMs?: number | undefined;
};

export type DeliveryPumpDependencies = AttemptDependencies & {
  readonly queue: WebhookQueue;
  readonly recorder: AttemptRecorder;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Called after a delivery went to the dead letters, at the start, and every few seconds. */
  readonly onDead: () => void;
};

/** Moves deliveries from the queue to the wire. */
export type DeliveryPump = {
  /** Something may be due. */
  wake(): void;
  start(): void;
  /** Claims no more; resolves when every request in flight is answered and recorded. */
  stop(): Promise<void>;
};

const LOOK_AROUND_MS = 5_000;
/** Wait of a delivery whose endpoint already holds its share of the slots with slow requests. */
const CROWDED_MS = 2_000;

export function createDeliveryPump(dependencies: DeliveryPumpDependencies, options: DeliveryPumpOptions = {}): DeliveryPump {
  const { queue, recorder, metrics, logger, onDead } = dependencies;
  const { concurrency = 64, leaseMs = 20_000, pollMs = 30_000, postponeMs = 15_000, slowMs = 1_000 } = options;
  const refill = Math.max(1, Math.ceil(concurrency / 4));
  const slow = new Map<string, number>();
  const inFlight = new Set<Promise<void>>();
  let running = false;
  let woken = false;
  let lookedAt = -Infinity;
  let interrupt: (() => void) | undefined;
  let loop: Promise<void> = Promise.resolve();

  function wake(): void {
    woken = true;
    interrupt?.();
  }

  /** Sleeps until woken or for `ms`. */
  async function idle(ms: number): Promise<void> {
    if (!woken) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        interrupt = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    interrupt = undefined;
  }

  async function run(): Promise<void> {
    while (running) {
      woken = false;
      try {
        const free = concurrency - inFlight.size;
        // Many at a time: a claim for every single freed slot would cost more than the request.
        if (free < refill) {
          await idle(pollMs);
          continue;
        }
        const claimed = await queue.claim({ limit: free, leaseMs });
        for (const delivery of claimed) launch(delivery);
        await lookAround();
        if (claimed.length === free) continue;
        const due = await queue.nextDue();
        await idle(Math.min(due === undefined ? pollMs : Math.max(due, 5), pollMs));
      } catch (error) {
        logger.error('the webhook queue could not be read', { error: String(error) });
        await idle(1_000);
      }
    }
  }

  /** What need not be done at every turn: the depth for operators, and dead letters that another process left unannounced. */
  async function lookAround(): Promise<void> {
    const time = dependencies.now().getTime();
    if (time - lookedAt < LOOK_AROUND_MS) return;
    lookedAt = time;
    metrics.queueDepth('webhooks', await queue.depth());
    onDead();
  }

  function launch(delivery: ClaimedDelivery): void {
    const work = deliver(delivery)
      .catch((error: unknown) => {
        // The claim runs out and the delivery falls due again.
        logger.error('a webhook delivery could not be handled', { webhookId: delivery.webhookId, error: String(error) });
      })
      .finally(() => {
        inFlight.delete(work);
        if (concurrency - inFlight.size === refill || inFlight.size === 0) wake();
      });
    inFlight.add(work);
  }

  async function deliver(delivery: ClaimedDelivery): Promise<void> {
    const { webhookId } = delivery;
    if ((slow.get(webhookId) ?? 0) >= refill) {
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
        if (record.next) wake();
        if (recorded && record.status === 'dead') onDead();
      }
    } finally {
      release();
    }
  }

  function countWhenSlow(webhookId: string): () => void {
    let counted = false;
    const timer = setTimeout(() => {
      counted = true;
      slow.set(webhookId, (slow.get(webhookId) ?? 0) + 1);
    }, slowMs);
    return () => {
      clearTimeout(timer);
      if (!counted) return;
      const left = (slow.get(webhookId) ?? 1) - 1;
      if (left > 0) slow.set(webhookId, left);
      else slow.delete(webhookId);
    };
  }

  return {
    wake,
    start() {
      if (running) return;
      running = true;
      loop = run();
    },
    async stop() {
      running = false;
      wake();
      await loop;
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
  };
}
