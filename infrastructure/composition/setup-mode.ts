import { v7 as uuidv7 } from 'uuid';
import { setupModeRoutes } from '../../api/admin/platform/setup-mode-routes.ts';
import { createApi } from '../../api/http/create-api.ts';
import { billingPeriod } from '../../domain/identity/billing-period.ts';
import type { HttpDependencies } from '../../api/http/http-dependencies.ts';
import { startListener } from '../../api/http/listener.ts';
import { healthRoutes } from '../../api/platform/health.ts';
import { FREE_TIER } from '../../application/ports/entitlements.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { refusal } from '../../domain/errors.ts';
import type { Settings } from '../configuration/settings/index.ts';
import { equalSecrets } from '../crypto/equal-secrets.ts';
import { randomSecrets } from '../crypto/random-secrets.ts';
import { createMetrics } from '../metrics/create-metrics.ts';
import { httpOptionsOf, tlsOf } from './http-options.ts';

export type SetupModeOptions = {
  readonly settings: Settings;
  /** Variables that stand in the way of a start. */
  readonly missing: readonly string[];
  readonly logger: Logger;
};

export type SetupModeService = { readonly adminUrl: string; readonly contentUrl: string; readonly setupToken: string; stop(): Promise<void> };

/** Starts without database and secrets: probes and the setup routes are all there is (spec 1, `SVC_SETUP_MODE`). */
export async function startSetupMode({ settings, missing, logger }: SetupModeOptions): Promise<SetupModeService> {
  const setupToken = settings.setupToken ?? randomSecrets.refreshToken();
  const routes = [
    ...healthRoutes({ state: () => 'setting_up', databaseReachable: () => Promise.resolve(true), stoppedProjections: () => [], diskLow: () => Promise.resolve(false) }),
    ...setupModeRoutes({ missing: () => missing, isToken: (text) => equalSecrets(text, setupToken) }),
  ];
  const none = () => Promise.reject(refusal('unavailable'));
  const dependencies: HttpDependencies = {
    logger,
    metrics: createMetrics(),
    now: () => new Date(),
    newId: () => uuidv7(),
    // Nobody has an account yet, and no route asks for one.
    authenticate: () => undefined,
    checkKeyScope: () => 'insufficient_scope',
    admitKeyRequest: (_, at) => ({ period: billingPeriod(at), counted: false }),
    recordKeyRequest: () => undefined,
    tenantState: () => undefined,
    tenantOfHost: () => undefined,
    gate: { isHidden: () => false, isWithheld: () => false, entitlements: FREE_TIER },
    progress: { waitFor: none },
    idempotency: { begin: none, complete: none, abandon: none },
    options: httpOptionsOf(settings),
  };
  const tls = tlsOf(settings);
  const listen = (api: 'admin' | 'content', address: string) => startListener({ app: createApi({ api, routes, dependencies }), address, tls });
  const admin = await listen('admin', settings.adminListenAddress);
  const content = await listen('content', settings.apiListenAddress);
  logger.info('listening', { admin: admin.url, content: content.url, setup_mode: true, missing });
  if (settings.setupToken === undefined) logger.warn('setup mode: GET /api/admin/setup/status takes this token in X-Setup-Token', { one_time: setupToken });
  return {
    adminUrl: admin.url,
    contentUrl: content.url,
    setupToken,
    async stop() {
      await Promise.all([admin.close(), content.close()]);
    },
  };
}
