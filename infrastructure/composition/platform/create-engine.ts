import { startBatchSpan } from '../../../application/platform/trace-batch.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { Tracing } from '../../../application/ports/tracing.ts';
import { type ProjectionEngine, createProjectionEngine } from '../../../projections/engine/engine.ts';
import type { FollowerTracing } from '../../../projections/engine/follower-options.ts';
import type { Observability } from './create-observability.ts';
import type { OpenStores } from './open-stores.ts';
import { projections } from './projections.ts';

export type EngineOptions = Pick<OpenStores, 'database' | 'eventStore' | 'leases' | 'signals' | 'instanceId'> &
  Pick<Observability, 'metrics' | 'tracing'> & { readonly logger: Logger };

/** The engine of all read models. `prepare` creates their schemas; `start` runs the projectors. */
export function createEngine({
  database,
  eventStore,
  leases,
  signals,
  instanceId,
  logger,
  metrics,
  tracing,
}: EngineOptions): ProjectionEngine {
  return createProjectionEngine({
    database,
    eventStore,
    projections,
    leases,
    signals,
    logger,
    metrics,
    tracing: tracing && spanForEachBatch(tracing),
    instanceId,
  });
}

function spanForEachBatch(tracing: Tracing): FollowerTracing {
  return {
    startBatch(follower, events) {
      const span = startBatchSpan({ name: `apply ${follower}`, events }, { tracing });
      return (failure) => {
        span.end(failure);
      };
    },
  };
}
