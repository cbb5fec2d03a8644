import type { ClaimRequest } from '../../application/ports/claims.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { PostgresClaims } from '../postgres/claims.ts';
import type { IdempotencyKeys } from '../postgres/idempotency.ts';
import type { PostgresRateCounters } from '../postgres/rate-counters.ts';

export type SchedulerOptions = {
  readonly claims: PostgresClaims;
  readonly idempotency: IdempotencyKeys;
  readonly rateCounters: PostgresRateCounters;
  /** The unique values that a stream holds by its events. */
  readonly heldBy: (owner: string) => Promise<readonly ClaimRequest[]>;
  readonly publishDueReleases: () => Promise<number>;
  readonly purgeSessions: () => Promise<number>;
  readonly sweepWebhookRecords: (signal: AbortSignal) => Promise<number>;
  readonly sweepDeadLetters: (signal: AbortSignal) => Promise<number>;
  readonly sweepApiKeyRequests: (signal: AbortSignal) => Promise<number>;
  readonly sweepPastSets: () => Promise<number>;
  readonly finishErasures: () => Promise<number>;
  readonly logger: Logger;
};

const SECOND = 1_000;

/**
 * Sweeps of the operational state, and what falls due (role `scheduler`). Each is safe to run in several processes at once, so no lease is needed.
 * What a crashed command left claimed is free again within seconds.
 */
export function startScheduler({ claims, idempotency, rateCounters, heldBy, logger, ...sweeps }: SchedulerOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const jobs = [
    every('reap claims', 5 * SECOND, () => claims.reap({ heldBy })),
    every('publish due releases', 2 * SECOND, () => sweeps.publishDueReleases()),
    every('sweep idempotency keys', 60 * SECOND, () => idempotency.sweep()),
    every('sweep rate counters', 60 * SECOND, () => rateCounters.sweep()),
    every('sweep moments of the past', 60 * SECOND, () => sweeps.sweepPastSets()),
    every('finish erasures', 600 * SECOND, () => sweeps.finishErasures()),
    every('purge sessions', 600 * SECOND, () => sweeps.purgeSessions()),
    every('sweep records of webhook deliveries', 600 * SECOND, () => sweeps.sweepWebhookRecords(stopping.signal)),
    every('sweep dead letters', 600 * SECOND, () => sweeps.sweepDeadLetters(stopping.signal)),
    every('sweep requests of API keys', 600 * SECOND, () => sweeps.sweepApiKeyRequests(stopping.signal)),
  ];

  async function every(name: string, ms: number, work: () => Promise<number>): Promise<void> {
    while (await rest(ms, stopping.signal)) {
      try {
        const done = await work();
        if (done > 0) logger.info(name, { done });
      } catch (error) {
        logger.warn(`${name} failed`, { reason: String(error) });
      }
    }
  }

  return {
    async stop() {
      stopping.abort();
      await Promise.all(jobs);
    },
  };
}

/** @returns false when told to stop */
function rest(ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', end);
      resolve(true);
    }, ms);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
