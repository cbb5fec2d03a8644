import { v7 as uuidv7 } from 'uuid';
import type { Logger } from '../../application/ports/logger.ts';
import type { ProtectionLimits } from '../../domain/traffic/protections.ts';
import type { SettingsLayer } from '../configuration/read-settings.ts';
import type { Settings } from '../configuration/settings/index.ts';
import { createVault } from '../crypto/vault.ts';
import type { OpenTracing } from '../tracing/open-tracing.ts';
import type { Shutdown } from './create-shutdown.ts';
import { type Every, atIntervals } from './platform/at-intervals.ts';
import { createEngine } from './platform/create-engine.ts';
import { createObservability } from './platform/create-observability.ts';
import { createSharedState } from './platform/create-shared-state.ts';
import { openFeatures } from './platform/open-features.ts';
import { openLicense } from './platform/open-license.ts';
import { openReplica } from './platform/open-replica.ts';
import { openStores } from './platform/open-stores.ts';
import type { Platform } from './platform/platform.ts';
import { readConsoleLayer } from './platform/read-console-layer.ts';
import { withAppendMetrics } from './platform/with-append-metrics.ts';
import { withStoreTracing } from './platform/with-store-tracing.ts';

export type PlatformOptions = {
  /** The settings of environment and file. */
  readonly settings: Settings;
  /**
   * The layers of `settings`, highest first; the settings saved in the console come below them. Default: `settings`
   * alone.
   */
  readonly layers?: readonly SettingsLayer[];
  /** Traces; closed last. Default: none. */
  readonly traces?: OpenTracing | undefined;
  /** Called after an error that only a restart repairs; the caller ends the process. */
  readonly onFatal?: (error: Error) => void;
  /** The clock. Default: the clock of the machine. */
  readonly now?: () => Date;
  /** Runs the license check. Default: a timer. */
  readonly every?: Every;
  /** Limits of the sign-in protections. Default: the built-in limits. */
  readonly protections?: ProtectionLimits;
  /** Whether this build supports licenses. Default: a constant of the build. */
  readonly licenseModule?: boolean;
};

/**
 * Opens stores, read models, settings, license and features, and registers each with `shutdown` as soon as it is open.
 * In a process with the role `projector` the projectors run from here on.
 * @throws when the database or the event store is unreachable, when a migration fails, or when the shutdown has begun
 */
export async function openPlatform({
  logger,
  shutdown,
  ...options
}: PlatformOptions & { readonly logger: Logger; readonly shutdown: Shutdown }): Promise<Platform> {
  const { settings: atStart, layers = [], traces, every = atIntervals, now = () => new Date() } = options;
  if (traces) shutdown.add(() => traces.close());
  const observability = createObservability(traces?.tracing);
  const { metrics, tracing } = observability;
  const opened = await openStores({ settings: atStart, logger });
  shutdown.add(() => opened.close());
  const stores = {
    ...opened,
    eventStore: withStoreTracing(withAppendMetrics(opened.eventStore, { metrics }), { tracing }),
  };
  const engine = createEngine({ ...stores, ...observability, logger });
  shutdown.add(() => engine.stop());
  shutdown.signal.throwIfAborted();
  await engine.prepare();
  shutdown.signal.throwIfAborted();
  const roles = new Set(atStart.roles);
  // Starts before the modules, so that read models of an older version are rebuilt while the rest opens.
  if (roles.has('projector')) engine.start();

  const { progress } = engine;
  const encryptionKey = atStart.encryptionKey ?? '';
  const vault = createVault({ database: stores.database, encryptionKey, signals: stores.signals });
  const { settings, sources, configuration } = await readConsoleLayer(options, { ...stores, vault, logger });
  shutdown.signal.throwIfAborted();
  const license = await openLicense({
    ...stores,
    licenseModule: options.licenseModule,
    settings,
    vault,
    logger,
    now,
    every,
  });
  shutdown.add(() => license.close());
  shutdown.signal.throwIfAborted();
  const { entitlements } = license.holder;
  const features = await openFeatures({
    ...stores,
    settings,
    sources,
    layers,
    entitlements,
    progress,
    vault,
    logger,
  });
  shutdown.add(() => features.close());
  const replica = await openReplica({ ...stores, settings, progress, logger });
  if (replica) shutdown.add(() => replica.close());
  shutdown.signal.throwIfAborted();

  return {
    ...stores,
    ...observability,
    ...createSharedState({ ...stores, vault, encryptionKey }),
    settings,
    configuration,
    roles,
    logger,
    engine,
    progress,
    replica,
    vault,
    license,
    entitlements,
    features: features.features,
    featureSettings: features.settings,
    protections: options.protections,
    onFatal: options.onFatal ?? (() => undefined),
    every,
    now,
    newId: () => uuidv7(),
    shutdown,
  };
}
