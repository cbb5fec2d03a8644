import { v7 as uuidv7 } from 'uuid';
import { setupModeRoutes } from '../../api/admin/platform/setup-mode-routes.ts';
import { createApi } from '../../api/http/create-api.ts';
import type { HttpDependencies } from '../../api/http/http-dependencies.ts';
import { startListener } from '../../api/http/listener.ts';
import { healthRoutes } from '../../api/platform/health-routes.ts';
import { FREE_TIER } from '../../application/ports/entitlements.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { refusal } from '../../domain/errors.ts';
import { billingPeriod } from '../../domain/identity/billing-period.ts';
import { equalSecrets } from '../../domain/identity/equal-secrets.ts';
import type { Settings } from '../configuration/settings/index.ts';
import { randomSecrets } from '../crypto/random-secrets.ts';
import { openMetrics } from '../metrics/open-metrics.ts';
import { httpOptionsOf, tlsOf } from './http-options.ts';

export type SetupModeOptions = {
  readonly settings: Settings;
  /** The variables whose absence or value prevents a normal start. */
  readonly missing: readonly string[];
  readonly logger: Logger;
};

export type SetupModeService = {
  readonly adminUrl: string;
  readonly contentUrl: string;
  readonly setupToken: string;
  stop(): Promise<void>;
};

/** Starts without database and secrets (`SVC_SETUP_MODE`): only probes and the setup routes are served. */
export async function startSetupMode({ settings, missing, logger }: SetupModeOptions): Promise<SetupModeService> {
  const setupToken = settings.setupToken ?? randomSecrets.refreshToken();
  const routes = [
    ...healthRoutes({
      state: () => 'setting_up',
      databaseReachable: () => Promise.resolve(true),
      stoppedProjections: () => [],
      diskLow: () => Promise.resolve(false),
    }),
    ...setupModeRoutes({ missing: () => missing, isToken: (text) => equalSecrets(text, setupToken) }),
  ];
  const dependencies = dependenciesWithoutDatabase(settings, logger);
  const tls = tlsOf(settings);
  const listen = (api: 'admin' | 'content', address: string) =>
    startListener({ app: createApi({ api, routes, dependencies }), address, tls });
  const admin = await listen('admin', settings.adminListenAddress);
  const content = await listen('content', settings.apiListenAddress);
  if (settings.setupToken === undefined)
    logger.warn('the service is in setup mode: GET /api/admin/setup/status takes this token in X-Setup-Token', {
      one_time: setupToken,
    });
  logger.info('listening', { admin: admin.url, content: content.url, setup_mode: true, missing });
  return {
    adminUrl: admin.url,
    contentUrl: content.url,
    setupToken,
    async stop() {
      await Promise.all([admin.close(), content.close()]);
    },
  };
}

/** The HTTP layer for routes that need no credential: no account exists, and nothing is stored. */
function dependenciesWithoutDatabase(settings: Settings, logger: Logger): HttpDependencies {
  const refuse = () => Promise.reject(refusal('unavailable'));
  return {
    logger,
    metrics: openMetrics(),
    now: () => new Date(),
    newId: () => uuidv7(),
    authenticate: () => undefined,
    checkKeyScope: () => 'insufficient_scope',
    admitKeyRequest: (_, at) => ({ period: billingPeriod(at), counted: false }),
    recordKeyRequest: () => undefined,
    tenantState: () => undefined,
    tenantOfHost: () => undefined,
    featureGate: { isHidden: () => false, isWithheld: () => false, entitlements: FREE_TIER },
    progress: { waitFor: refuse },
    idempotency: { begin: refuse, complete: refuse, suspend: refuse, abandon: refuse },
    options: httpOptionsOf(settings),
  };
}
