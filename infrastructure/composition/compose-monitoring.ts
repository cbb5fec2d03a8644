import { statfs } from 'node:fs/promises';
import { type HealthRouteDependencies, healthRoutes } from '../../api/platform/health-routes.ts';
import { metricsRoutes } from '../../api/platform/metrics-routes.ts';
import type { AuditModule } from './compose-audit.ts';
import type { IdentityModule } from './compose-identity.ts';
import { EMPTY_MODULE, type Module } from './module.ts';
import { operationsRoutes } from './monitoring/operations-routes.ts';
import type { Platform } from './platform/platform.ts';

export type MonitoringNeeds = Pick<IdentityModule, 'droppedKeyRequests'> & Pick<AuditModule, 'chainFaults'>;

export type MonitoringModule = Module & {
  /** Reports that both listeners are open. From then on the readiness probe succeeds. */
  started(): void;
};

const LOW_DISK_BYTES = 100 * 1024 * 1024;

/** Probes, metrics and the routes for operators. A process without the role `api` serves probes and metrics only. */
export function composeMonitoring(
  platform: Platform,
  { droppedKeyRequests, chainFaults }: MonitoringNeeds,
): MonitoringModule {
  const { metrics, settings, roles, database, leasePool, replica, queuedAppends, engine, shutdown } = platform;
  let running = false;
  metrics.watch({
    pools: { main: database.pool, leases: leasePool, ...(replica && { replica: replica.database.pool }) },
    replicaReads: replica && (() => replica.outcomes()),
    droppedKeyRequests,
    queuedAppends,
    parkedStreams: () => engine.countParked(),
  });
  const state: HealthRouteDependencies['state'] = () =>
    shutdown.signal.aborted ? 'shutting_down' : running ? 'running' : 'starting';
  return {
    ...EMPTY_MODULE,
    routes: [
      ...healthRoutes({ ...healthChecks(platform, state), chainFaults, parkedStreams: () => engine.countParked() }),
      ...metricsRoutes({ metrics, token: settings.metricsToken }),
      ...(roles.has('api') ? operationsRoutes(platform) : []),
    ],
    started() {
      running = true;
    },
  };
}

function healthChecks(
  { isDatabaseReachable, database, engine, metrics, logger }: Platform,
  state: HealthRouteDependencies['state'],
): HealthRouteDependencies {
  return {
    poolAnswers: async () => {
      (await database.pool.connect()).release();
      return true;
    },
    retryingFollowers: () => metrics.retryingFollowers(),
    state,
    databaseReachable: isDatabaseReachable,
    unservedReadModels: () => engine.unserved(),
    stoppedProjections: () =>
      engine
        .status()
        .filter((projection) => projection.state === 'stopped')
        .map(({ name }) => name),
    async diskLow() {
      const { bavail, bsize } = await statfs(process.cwd());
      return bavail * bsize < LOW_DISK_BYTES;
    },
    onChange(probe, reasons) {
      if (reasons.length > 0) logger.warn('a probe fails', { probe, reasons });
      else logger.info('a probe passes again', { probe });
    },
  };
}
