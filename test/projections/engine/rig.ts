import { randomUUID } from 'node:crypto';
import { createLeases } from '../../../infrastructure/postgres/leases.ts';
import type { Database } from '../../../infrastructure/postgres/database.ts';
import { createInProcessSignals } from '../../../infrastructure/signals/in-process.ts';
import type { EventSource, FollowerLogger, FollowerMetrics, SignalBus } from '../../../projections/engine/collaborators.ts';
import type { ProjectionEngine } from '../../../projections/engine/engine.ts';
import { createProjectionEngine } from '../../../projections/engine/engine.ts';
import type { Projection } from '../../../projections/engine/projection.ts';

export const silent: FollowerLogger = { info: () => undefined, warn: () => undefined, error: () => undefined };

export type RigOptions = {
  readonly database: Database;
  readonly source: EventSource;
  readonly projections: readonly Projection[];
  readonly ttlMs?: number;
  readonly maxBatch?: number;
  readonly signals?: SignalBus;
  readonly metrics?: FollowerMetrics;
};

/** An engine as one process has it. */
export function engineOf({ database, source, projections, ttlMs = 1_000, signals = createInProcessSignals(), ...rest }: RigOptions): ProjectionEngine {
  const instanceId = randomUUID();
  return createProjectionEngine({
    database, source, projections, signals, instanceId, logger: silent, persistEveryMs: 50,
    leases: createLeases({ database, owner: instanceId, ttlMs }),
    ...rest,
  });
}

/** Throws until the condition holds, for `eventually`. */
export function holds(condition: boolean, what: string): void {
  if (!condition) throw new Error(`not yet: ${what}`);
}
