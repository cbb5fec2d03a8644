import { createApi } from '../../api/http/create-api.ts';
import type { HttpDependencies } from '../../api/http/http-dependencies.ts';
import { type Listener, parseListenAddress, startListener } from '../../api/http/listener.ts';
import { createOutageWatch } from '../../api/http/outage-watch.ts';
import type { Route } from '../../api/http/route.ts';
import { runAs, useShareOf } from '../postgres/work-class.ts';
import type { Modules } from './compose-modules.ts';
import { httpOptionsOf, tlsOf } from './http-options.ts';
import type { Platform } from './platform/platform.ts';
import { watchTls } from './watch-tls.ts';

export type Listening = {
  /** Base address of the Admin API. */
  readonly adminUrl: string;
  /** Base address of the Content API. */
  readonly contentUrl: string;
  /** The token that the first setup asks for; undefined once an account exists. */
  readonly setupToken: string | undefined;
  /** The routes of both listeners. */
  readonly routes: readonly Route[];
  /** Answers the requests that are being handled with 500, writes with `outcome_unknown`. */
  failRequests(): void;
};

/**
 * Opens the Admin API and the Content API; the service is ready then, and the last step of the start is to log
 * `listening`.
 * @throws when an address cannot be bound, when a certificate cannot be read, or when the shutdown has begun
 */
export async function listen(platform: Platform, modules: Modules): Promise<Listening> {
  const { settings, shutdown, logger, roles, instanceId } = platform;
  const { routes, identity, automation, monitoring } = modules;
  const outages = createOutageWatch({ isReachable: platform.isDatabaseReachable });
  const dependencies = { ...httpDependencies(modules, platform), outages };
  const tls = tlsOf(settings);
  const listeners: Listener[] = [];
  // Both close at the same time, so that neither accepts requests while the other finishes its own.
  shutdown.add(async () => {
    await Promise.all(listeners.map((listener) => listener.close()));
  });
  const watching = watchTls({ settings, listeners, logger });
  shutdown.add(() => {
    watching.stop();
  });

  async function open(api: 'admin' | 'content', address: string): Promise<Listener> {
    const listener = await startListener({ app: createApi({ api, routes, dependencies }), address, tls });
    listeners.push(listener);
    shutdown.signal.throwIfAborted();
    automation.addOwnListener({ host: parseListenAddress(address).host, port: listener.port });
    return listener;
  }
  const { url: adminUrl } = await open('admin', settings.adminListenAddress);
  const { url: contentUrl } = await open('content', settings.apiListenAddress);
  const setupToken = await identity.pendingSetupToken();
  if (setupToken !== undefined && settings.setupToken === undefined)
    logger.warn('no account exists yet: POST /api/admin/setup takes this one-time token', { one_time: setupToken });
  shutdown.signal.throwIfAborted();
  monitoring.started();
  logger.info('listening', { admin: adminUrl, content: contentUrl, roles: [...roles], instance: instanceId });
  return {
    adminUrl,
    contentUrl,
    setupToken,
    routes,
    failRequests() {
      outages.failAll();
    },
  };
}

/** What the HTTP layer depends on, for both listeners. */
function httpDependencies({ identity }: Modules, platform: Platform): HttpDependencies {
  const { logger, metrics, tracing, replica, now, newId, idempotency, progress, features, entitlements } = platform;
  return {
    ...identity.http,
    logger,
    metrics,
    tracing,
    replica,
    now,
    newId,
    idempotency,
    progress,
    featureGate: { ...features, entitlements },
    withinLimits: runAs,
    useShareOf,
    options: httpOptionsOf(platform.settings),
  };
}
