import { debugRoutes } from '../../../api/admin/platform/debug-routes.ts';
import { parkedStreamsRoutes } from '../../../api/admin/platform/parked-streams-routes.ts';
import { type PoolHealthRouteDependencies, poolHealthRoutes } from '../../../api/admin/platform/pool-health-routes.ts';
import { securityControlsRoutes } from '../../../api/admin/platform/security-controls-routes.ts';
import type { Route } from '../../../api/http/route.ts';
import { securityControlsOf } from '../../configuration/security-controls.ts';
import type { Settings } from '../../configuration/settings/index.ts';
import { createCollector } from '../../metrics/collector.ts';
import type { Database } from '../../postgres/database.ts';
import { poolReportOf } from '../../postgres/pool-report.ts';
import type { OpenReplica } from '../platform/open-replica.ts';
import type { Platform } from '../platform/platform.ts';

/** Routes for operators: debug reports, parked streams, connection pools, security controls. */
export function operationsRoutes({ database, replica, settings, latencies, engine }: Platform): readonly Route[] {
  return [
    ...debugRoutes({ latencies, collector: createCollector() }),
    ...parkedStreamsRoutes(engine),
    ...poolHealthRoutes(poolHealthOf(database, replica, settings)),
    ...securityControlsRoutes({ controls: () => securityControlsOf(settings) }),
  ];
}

function poolHealthOf(
  database: Database,
  replica: OpenReplica | undefined,
  settings: Settings,
): PoolHealthRouteDependencies {
  const { connectionPooler: kind } = settings;
  return {
    pools: () => [poolReportOf('main', database), ...(replica ? [poolReportOf('replica', replica.database)] : [])],
    problems: () => (replica?.isUnreachable() === true ? ['replica: it does not answer, reads go to the primary'] : []),
    async latency() {
      const began = performance.now();
      await database.query('select 1');
      return performance.now() - began;
    },
    pooler:
      kind === undefined
        ? undefined
        : {
            kind,
            max_client_conn: settings.poolerMaxClients,
            default_pool_size: settings.poolerPoolSize,
            reserve_pool_size: settings.poolerReserve,
          },
    thresholds: {
      maxLatencyMs: settings.poolHealthMaxLatencyMs,
      minIdle: settings.poolHealthMinIdle,
      maxUtilization: settings.poolHealthMaxUtilisation,
    },
  };
}
