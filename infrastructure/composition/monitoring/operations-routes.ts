import type { Route } from '../../../api/http/route.ts';
import { debugRoutes } from '../../../api/platform/debug-routes.ts';
import { parkedStreamsRoutes } from '../../../api/platform/parked-streams-routes.ts';
import { type PoolHealth, type PoolReport, poolHealthRoutes } from '../../../api/platform/pool-health-routes.ts';
import { type SecurityControl, securityControlsRoutes } from '../../../api/platform/security-controls-routes.ts';
import type { Settings } from '../../configuration/settings/index.ts';
import { createCollector } from '../../metrics/collector.ts';
import type { Database } from '../../postgres/database.ts';
import type { OpenReplica } from '../platform/open-replica.ts';
import type { Platform } from '../platform/platform.ts';

/** Routes for operators: debug reports, parked streams, connection pools, security controls. */
export function operationsRoutes({ database, replica, settings, latencies, engine }: Platform): readonly Route[] {
  return [
    ...debugRoutes({ latencies, collector: createCollector() }),
    ...parkedStreamsRoutes(engine),
    ...poolHealthRoutes(poolHealthOf(database, replica, settings)),
    ...securityControlsRoutes(() => controlsOf(settings)),
  ];
}

function poolHealthOf(database: Database, replica: OpenReplica | undefined, settings: Settings): PoolHealth {
  const { connectionPooler: kind } = settings;
  return {
    pools: () => [reportOf('main', database), ...(replica ? [reportOf('replica', replica.database)] : [])],
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

function reportOf(name: string, { pool }: Database): PoolReport {
  const { totalCount: total, idleCount: idle, waitingCount: waiting } = pool;
  const max = pool.options.max;
  return {
    name,
    max,
    total,
    idle,
    waiting,
    utilization: max === 0 ? 0 : Math.round(((total - idle) / max) * 1000) / 1000,
  };
}

function controlsOf(settings: Settings): readonly SecurityControl[] {
  const control = (name: string, enforced: boolean, detail: string): SecurityControl => ({ name, enforced, detail });
  const tls = settings.tlsCertFile !== undefined;
  return [
    control(
      'production_checks',
      settings.appEnv === 'production',
      'APP_ENV=production refuses unsafe settings at start',
    ),
    control('secure_cookies', settings.secureCookie, 'SECURE_COOKIE: __Host- cookies, HSTS, redirect of http to https'),
    control('tls', tls, 'TLS_CERT_FILE and TLS_KEY_FILE: both listeners serve TLS 1.2 or later'),
    control('allowed_hosts', settings.allowedHosts.length > 0, 'ALLOWED_HOSTS: other host names are answered with 421'),
    control('ip_allowlist', settings.ipAllowlist.length > 0, 'IP_ALLOWLIST: other addresses are answered with 403'),
    control('cors', true, `CORS_ORIGINS: ${String(settings.corsOrigins.length)} origins are allowed by name, never *`),
    control('csrf', true, 'requests by cookie that change data carry X-CSRF-Token'),
    control('security_headers', true, 'helmet: CSP, no sniffing, no framing, referrer policy'),
    control(
      'encryption_at_rest',
      settings.encryptionKey !== undefined,
      'ENCRYPTION_KEY: stored credentials and personal data are sealed with AES-256-GCM',
    ),
    control(
      'api_key_pepper',
      settings.apiKeyPepper !== undefined,
      'API_KEY_PEPPER is mixed into every stored hash of a key',
    ),
    control(
      'audit_chain',
      settings.auditHmacKey !== undefined,
      'SVC_AUDIT_HMAC_KEY: the log is chained and sealed under a key of its own',
    ),
    control(
      'password_policy',
      settings.passwordRequireComplexity,
      `PASSWORD_REQUIRE_COMPLEXITY, at least ${String(settings.passwordMinLength)} characters`,
    ),
    control(
      'outbound_guard',
      true,
      settings.webhookAllowedPrivateNetworks.length > 0
        ? 'WEBHOOK_ALLOWED_PRIVATE_NETWORKS lets webhooks into the networks it names'
        : 'no webhook reaches a private network',
    ),
    control(
      'metrics_token',
      settings.metricsToken !== undefined,
      'METRICS_TOKEN guards the metrics; unset: super admins only',
    ),
  ];
}
