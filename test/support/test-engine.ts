import { randomUUID } from 'node:crypto';
import type { EventStore } from '../../application/ports/event-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Metrics } from '../../application/ports/metrics.ts';
import type { Signals } from '../../application/ports/signals.ts';
import type { Database } from '../../infrastructure/postgres/database.ts';
import { createLeases } from '../../infrastructure/postgres/leases.ts';
import { openInProcessSignals } from '../../infrastructure/signals/in-process.ts';
import { type ProjectionEngine, createProjectionEngine } from '../../projections/engine/engine.ts';
import type { Projection } from '../../projections/engine/projection.ts';

const silent: Pick<Logger, 'info' | 'warn' | 'error'> = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

export type TestEngineOptions = {
  readonly database: Database;
  readonly eventStore: Pick<EventStore, 'head' | 'subscribe'>;
  readonly projections: readonly Projection[];
  readonly ttlMs?: number;
  readonly maxBatch?: number;
  readonly signals?: Pick<Signals, 'publish' | 'subscribe'>;
  readonly metrics?: Pick<Metrics, 'lag' | 'followerLeft' | 'batchApplied' | 'followerStopped'>;
};

/** An engine as one process runs it, with its own lease holder and, by default, its own signals. */
export function createTestEngine({
  database,
  eventStore,
  projections,
  ttlMs = 1_000,
  signals = openInProcessSignals(),
  ...rest
}: TestEngineOptions): ProjectionEngine {
  const instanceId = randomUUID();
  return createProjectionEngine({
    database,
    eventStore,
    projections,
    signals,
    instanceId,
    logger: silent,
    persistEveryMs: 50,
    leases: createLeases({ database, owner: instanceId, ttlMs }),
    ...rest,
  });
}

/** Throws until the condition holds, for `eventually`. */
export function holds(condition: boolean, what: string): void {
  if (!condition) throw new Error(`not yet: ${what}`);
}
