import { statfs } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { magicLinkLacks } from '../../application/identity/magic-link-dependencies.ts';
import { renameInAccess } from '../../application/identity/rename-in-access.ts';
import { applyDeclaredTypes } from '../../application/content/apply-declared-types.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Tracing } from '../../application/ports/tracing.ts';
import { startBatchSpan } from '../../application/platform/trace-batch.ts';
import { createApi } from '../../api/http/create-api.ts';
import type { HttpDependencies } from '../../api/http/http-dependencies.ts';
import type { Listener } from '../../api/http/listener.ts';
import { parseAddress, startListener } from '../../api/http/listener.ts';
import type { Route } from '../../api/http/route.ts';
import type { HealthChecks } from '../../api/platform/health.ts';
import type { CommandContext } from '../../domain/context.ts';
import type { ProtectionLimits } from '../../domain/traffic/protections.ts';
import { keyRefusal } from '../../domain/identity/scopes.ts';
import type { FollowerTracing } from '../../projections/engine/collaborators.ts';
import { createProjectionEngine } from '../../projections/engine/engine.ts';
import { createConfiguration } from '../configuration/configuration.ts';
import type { SettingsLayer } from '../configuration/read-settings.ts';
import type { Settings } from '../configuration/settings/index.ts';
import { deriveKey } from '../crypto/derive-key.ts';
import { randomSecrets } from '../crypto/random-secrets.ts';
import { createVault } from '../crypto/vault.ts';
import { LICENSE_MODULE } from '../license/license-module.ts';
import { createLogger } from '../logging/create-logger.ts';
import type { ProcessMetrics } from '../metrics/create-metrics.ts';
import { createMetrics } from '../metrics/create-metrics.ts';
import type { LatencyRecorder } from '../metrics/latency-recorder.ts';
import { createLatencyRecorder } from '../metrics/latency-recorder.ts';
import { createClaims } from '../postgres/claims.ts';
import { isGone } from '../postgres/instance.ts';
import { createIdempotencyKeys } from '../postgres/idempotency.ts';
import { createRateCounters } from '../postgres/rate-counters.ts';
import type { OpenTracing } from '../tracing/open-tracing.ts';
import { composeAudit } from './audit.ts';
import { composeAutomation } from './automation.ts';
import { createClosers } from './closers.ts';
import { composeContent } from './content.ts';
import { startDuties } from './duties.ts';
import { composeFeatures } from './features.ts';
import { withConsoleSettings } from './console-settings.ts';
import { openFanOut } from './fan-out.ts';
import { httpOptionsOf, tlsOf } from './http-options.ts';
import { composeGdpr } from './gdpr.ts';
import { composeIdentity } from './identity.ts';
import type { Every } from './license.ts';
import { composeLicense } from './license.ts';
import { measured } from './measured-event-store.ts';
import { composeMail } from './mail.ts';
import { composeModelling } from './modelling.ts';
import { projections } from './projections.ts';
import { openReplica } from './replica.ts';
import { composeRoutes } from './routes.ts';
import { composeReleases } from './releases.ts';
import { composeSignInGuards } from './sign-in-guards.ts';
import { openStores } from './stores.ts';
import { traced } from './traced-event-store.ts';
import { watchTls } from './watch-tls.ts';
import { createTodaysHistory } from './todays-history.ts';

export type StartServiceOptions = {
  /** As environment and file say them. */
  readonly settings: Settings;
  /** The layers they were read from, the highest first; what the console saved is laid over them. Default: the settings hold as they are. */
  readonly layers?: readonly SettingsLayer[];
  /** Definitions of content types that are created or updated before anything is served (spec 2, bundles). */
  readonly declaredTypes?: readonly unknown[];
  /** Default: winston on standard error as `LOG_LEVEL` and `LOG_FORMAT` say. */
  readonly logger?: Logger;
  /** Traces; closed when everything else has stopped. Default: none. */
  readonly traces?: OpenTracing | undefined;
  /** Something that only a new process mends; the caller ends this one. */
  readonly onFatal?: (error: Error) => void;
  /** The clock. Default: that of the machine. */
  readonly now?: () => Date;
  /** Times the look after the license. Default: a timer. */
  readonly every?: Every;
  /** Limits of the built-in protections. Default: those that ship. */
  readonly protections?: ProtectionLimits;
  /** Whether licenses are supported. Default: what the build says. */
  readonly licenseModule?: boolean;
};

export type Service = {
  /** Base address of the Admin API. */
  readonly adminUrl: string;
  /** Base address of the Content API. */
  readonly contentUrl: string;
  /** What the first setup asks for; undefined once an account exists. */
  readonly setupToken: string | undefined;
  /** The declarations that both listeners serve (rule 13). */
  readonly routes: readonly Route[];
  /**
   * Stops accepting, finishes requests in flight and batches, saves checkpoints, leaves leases (spec 5, rule 15).
   * Resolves when nothing runs any more. Safe to call twice.
   */
  stop(): Promise<void>;
};

const LOW_DISK_BYTES = 100 * 1024 * 1024;

/** Starts the roles that the settings name, in one process. @throws when the database, the event store or an address can't be had */
export async function startService({ settings: atStart, layers, declaredTypes = [], logger: given, traces, onFatal = () => undefined, now = () => new Date(), every = atIntervals, licenseModule = LICENSE_MODULE, protections }: StartServiceOptions): Promise<Service> {
  const newId = () => uuidv7();
  const logger = given ?? createLogger({ level: atStart.logLevel, format: atStart.logFormat ?? (atStart.appEnv === 'production' ? 'json' : 'pretty') });
  const latencies = createLatencyRecorder();
  const metrics = timed(createMetrics(), latencies);
  const roles = new Set(atStart.roles);
  const closers = createClosers(logger);
  let state: ReturnType<HealthChecks['state']> = 'starting';

  function stop(): Promise<void> {
    state = 'shutting_down';
    return closers.closeAll();
  }

  try {
    const tracing = traces?.tracing;
    if (traces) closers.add(() => traces.close());
    const opened = await openStores({ settings: atStart, logger });
    const stores = { ...opened, eventStore: traced(measured(opened.eventStore, metrics), tracing) };
    closers.add(() => opened.close());
    const { database, eventStore, signals, leases, instanceId } = stores;

    const engine = createProjectionEngine({ database, source: eventStore, projections, leases, signals, logger, metrics, tracing: tracing && followerTracing(tracing), instanceId });
    closers.add(() => engine.stop());
    await engine.prepare();
    if (roles.has('projector')) engine.start();

    const encryptionKey = atStart.encryptionKey ?? '';
    const vault = createVault({ database, encryptionKey, signals });
    const configuration = createConfiguration(layers ?? []);
    const { settings, sources } = layers === undefined ? { settings: atStart, sources: {} } : await withConsoleSettings({ atStart, configuration, eventStore, vault, logger });
    const claims = createClaims({ database, key: deriveKey(encryptionKey, 'claims'), instance: instanceId, isGone });
    const idempotency = createIdempotencyKeys({ database, vault });
    const rateCounters = createRateCounters({ database, key: deriveKey(encryptionKey, 'rate-counters') });
    const setupToken = settings.setupToken ?? randomSecrets.refreshToken();
    const license = await composeLicense({ stores, settings, vault, logger, now, every, licenseModule });
    closers.add(() => license.close());
    const install = await composeFeatures({ stores, settings, sources, layers: layers ?? [], entitlements: license.holder.entitlements, progress: engine.progress, vault, logger });
    closers.add(() => {
      install.close();
    });

    const mail = composeMail({ stores, settings, vault, logger, now, newId });
    if (roles.has('worker')) closers.add(mail.startWorker());
    const guards = composeSignInGuards({ database, rateCounters, logger, protections });
    const identity = await composeIdentity({ stores, settings, logger, progress: engine.progress, vault, claims, entitlements: license.holder.entitlements, mailer: mail.mailer, guards, setupToken, now, newId });
    closers.add(() => identity.close());
    const lacking = magicLinkLacks(identity.dependencies);
    if (lacking !== undefined && install.features.isRequested('magic-link')) {
      install.features.report('magic-link', lacking);
      logger.info('magic-link sign-in does not start', { reason: lacking });
    }
    const replica = await openReplica({ stores, settings, progress: engine.progress, logger });
    if (replica) closers.add(() => replica.close());
    const content = composeContent({
      stores, reading: replica?.queryable, progress: engine.progress, claims, accessRules: identity.dependencies.tenants.accessRules, logger,
      renamed: (names, context) => renameInAccess(identity.dependencies, names, context),
    });
    closers.add(() => content.close());
    metrics.watch({
      pools: { main: database.pool, leases: stores.leasePool, ...(replica && { replica: replica.database.pool }) },
      replicaReads: replica && (() => replica.outcomes()),
      droppedKeyRequests: () => identity.requests.dropped(),
      queuedAppends: stores.queuedAppends,
    });
    const releases = composeReleases({ stores, content, identityReads: identity.dependencies.reads, now, newId, logger });
    const modelling = composeModelling({ stores, settings, vault, entitlements: license.holder.entitlements, content });
    closers.add(() => modelling.close());
    const history = createTodaysHistory({ eventStore, types: content.entryDependencies.types, typeById: (id) => content.typeById(id) });
    const automation = composeAutomation({ stores, settings, logger, metrics, tracing, progress: engine.progress, vault, history, hasStatus: (tenant, typeId) => content.hasStatus(tenant, typeId), entitlements: license.holder.entitlements, now, newId });
    closers.add(() => automation.close());

    const audit = await composeAudit({ stores, settings, now, newId });
    const fanOut = await openFanOut({ stores, settings, logger, metrics, tracing, onFatal });
    closers.add(() => fanOut.close());
    const gdpr = composeGdpr({ stores, settings, identity: identity.dependencies, flushRequests: () => identity.requests.flush(), rateCounters });
    startDuties({ roles, closers, stores, settings, install, fanOut, history, automation, content, identity, releases, gdpr, audit, vault, claims, idempotency, rateCounters, every, now, logger });

    const checks: HealthChecks = {
      state: () => state,
      databaseReachable: async () => (await database.query('select 1')).length === 1,
      stoppedProjections: () => engine.status().filter((projection) => projection.state === 'stopped').map(({ name }) => name),
      diskLow: async () => {
        const { bavail, bsize } = await statfs(process.cwd());
        return bavail * bsize < LOW_DISK_BYTES;
      },
      onChange(probe, reasons) {
        if (reasons.length > 0) logger.warn('a probe says no', { probe, reasons });
        else logger.info('a probe says yes again', { probe });
      },
    };
    const routes = composeRoutes({ stores, replica, settings, configuration, latencies, metrics, checks, audit, content, modelling, releases, rateCounters, identity, gdpr, automation, license, install, version: VERSION, api: roles.has('api') });
    const http: HttpDependencies = {
      logger, metrics, tracing, replica, now, newId, idempotency,
      progress: engine.progress,
      gate: { ...install.features, entitlements: license.holder.entitlements },
      authenticate: (facts) => identity.authenticator.authenticate(facts),
      checkKeyScope: keyRefusal,
      admitKeyRequest: (key, at) => identity.requests.admit(key, at),
      recordKeyRequest: (request) => {
        identity.requests.record(request);
      },
      tenantState: (slug) => identity.dependencies.tenants.state(slug),
      tenantOfHost: (host) => identity.dependencies.tenants.ofHost(host),
      options: httpOptionsOf(settings),
    };
    // Before anything else is stopped: whatever waits for a broker that is away waits no more.
    closers.add(() => {
      fanOut.giveUp();
    });
    const applied = await applyDeclaredTypes(declaredTypes, systemContext({ now, newId }), content.typeDependencies, pause);
    if (applied.length > 0) logger.info('content types of the settings file applied', { names: applied });
    const tls = tlsOf(settings);
    const listeners: Listener[] = [];
    // Both at once: neither takes new requests while the other finishes its own.
    closers.add(async () => {
      await Promise.all(listeners.map((listener) => listener.close()));
    });
    const listen = async (api: 'admin' | 'content', address: string): Promise<Listener> => {
      const listener = await startListener({ app: createApi({ api, routes, dependencies: http }), address, tls });
      listeners.push(listener);
      automation.ownListener({ host: parseAddress(address).host, port: listener.port });
      return listener;
    };
    const watching = watchTls({ settings, listeners, logger });
    closers.add(() => {
      watching.stop();
    });
    const admin = await listen('admin', settings.adminListenAddress);
    const contentListener = await listen('content', settings.apiListenAddress);
    state = 'running';
    logger.info('listening', { admin: admin.url, content: contentListener.url, roles: [...roles], instance: instanceId });
    const needsSetup = !(await identity.anyUser());
    if (needsSetup && settings.setupToken === undefined) logger.warn('no account exists yet: POST /api/admin/setup takes this one-time token', { one_time: setupToken });
    return {
      adminUrl: admin.url,
      contentUrl: contentListener.url,
      setupToken: needsSetup ? setupToken : undefined,
      routes,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const atIntervals: Every = (ms, work) => {
  const timer = setInterval(() => void work(), ms);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
};

/** Version of the package, for OpenAPI documents. */
export const VERSION = '0.1.0';

/** What the service itself does at start, it does in the default tenant. */
function systemContext({ now, newId }: Pick<CommandContext, 'now' | 'newId'>): CommandContext {
  const correlationId = newId();
  return { tenant: 'default', actor: { kind: 'system', id: 'settings-file' }, correlationId, causationId: correlationId, now, newId };
}

/** The metrics of every request, and its latency for those who look for slow routes. */
function timed(metrics: ProcessMetrics, latencies: LatencyRecorder): ProcessMetrics {
  return {
    ...metrics,
    requestFinished(api, route, method, status, seconds) {
      metrics.requestFinished(api, route, method, status, seconds);
      latencies.record(api, route, method, seconds);
    },
  };
}

/** Batches of the read models as spans. */
function followerTracing(tracing: Tracing): FollowerTracing {
  return {
    startBatch(follower, events) {
      const span = startBatchSpan(tracing, `apply ${follower}`, events);
      return (failure) => {
        span.end(failure);
      };
    },
  };
}
