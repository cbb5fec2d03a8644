import { reasonOf } from '../../application/ports/transient-errors.ts';
import type { ContentModule } from './compose-content.ts';
import { EMPTY_MODULE, type Module } from './module.ts';
import type { Platform } from './platform/platform.ts';
import { createUniqueValuesOfStream } from './shared-state/create-unique-values-of-stream.ts';

export type SharedStateNeeds = Pick<ContentModule, 'typeById' | 'backfillClaims'>;

/** The sweeps of the shared state: claims, idempotency keys, rate counters. */
export function composeSharedState(
  { eventStore, vault, claims, idempotency, rateCounters, logger }: Platform,
  needs: SharedStateNeeds,
): Module {
  const heldBy = createUniqueValuesOfStream({ eventStore, vault, content: needs });
  const onError = (owner: string, error: unknown): void => {
    logger.error('the unique values of a stream could not be checked', { stream: owner, reason: reasonOf(error) });
  };
  return {
    ...EMPTY_MODULE,
    sweeps: [
      // Frees within seconds what a crashed command left claimed.
      { name: 'reap claims', everyMs: 5_000, run: () => claims.reap({ heldBy, onError }) },
      { name: 'sweep idempotency keys', everyMs: 60_000, run: () => idempotency.sweep() },
      { name: 'sweep rate counters', everyMs: 60_000, run: () => rateCounters.sweep() },
    ],
  };
}
