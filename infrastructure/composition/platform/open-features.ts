import { oneAtATime } from '../../../application/concurrency/one-at-a-time.ts';
import {
  type FeatureSettings,
  type StartupValue,
  createFeatureSettings,
} from '../../../application/platform/feature-settings.ts';
import { type Features, createFeatures } from '../../../application/platform/features.ts';
import type { Entitlements } from '../../../application/ports/entitlements.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { ProjectionProgress } from '../../../application/ports/projection-progress.ts';
import { reasonOf } from '../../../application/ports/transient-errors.ts';
import type { Vault } from '../../../application/ports/vault.ts';
import type { Json } from '../../../domain/json.ts';
import { ownValue } from '../../../domain/own-value.ts';
import { createFeatureQueries } from '../../../projections/platform/queries.ts';
import { type ReadSettings, type SettingsLayer, lookUp } from '../../configuration/read-settings.ts';
import type { Setting } from '../../configuration/setting.ts';
import { SETTINGS, type Settings } from '../../configuration/settings/index.ts';
import { openParts } from '../open-parts.ts';
import type { OpenStores } from './open-stores.ts';

export type FeatureInput = {
  readonly settings: Settings;
  /** The layer of each variable; a variable without one has its default. */
  readonly sources: ReadSettings['sources'];
  /** The layers above the console. */
  readonly layers: readonly SettingsLayer[];
};

export type FeaturesOptions = FeatureInput &
  Pick<OpenStores, 'database'> & {
    readonly entitlements: Entitlements;
    readonly progress: Pick<ProjectionProgress, 'onMove'>;
    readonly vault: Vault;
    readonly logger: Logger;
  };

export type OpenFeatures = {
  readonly features: Features;
  readonly settings: FeatureSettings;
  close(): Promise<void>;
};

/** A console layer that sets every variable. The console may set exactly the variables whose value comes from it. */
const ANY_CONSOLE: SettingsLayer = { name: 'console', get: () => '' };
/** How often features are reloaded without a signal, so that a lost signal delays a change by at most a second. */
const POLL_MS = 800;

/**
 * The features of this installation and their settings. A change by another process takes effect here within a second.
 */
export function openFeatures({
  database,
  entitlements,
  progress,
  vault,
  logger,
  ...input
}: FeaturesOptions): Promise<OpenFeatures> {
  return openParts(async (closers) => {
    const features = createFeatures({
      entitlements,
      records: createFeatureQueries({ database }),
      requested: input.settings.plugins,
    });
    const reload = oneAtATime(async () => {
      await features.reload().catch((error: unknown) => {
        logger.debug('the feature settings of the console could not be reloaded', {
          reason: reasonOf(error),
        });
      });
    });
    closers.add(
      progress.onMove('platform', (_position, applied) => {
        if (applied) void reload();
      }),
    );
    const poll = setInterval(() => void reload(), POLL_MS);
    poll.unref();
    closers.add(() => {
      clearInterval(poll);
    });
    await features.reload();
    return { features, settings: createFeatureSettings({ features, vault, startupValue: startupValues(input) }) };
  });
}

/** Looks up the value of a variable at start, its layer, and whether the console may change it. */
function startupValues({ settings, sources, layers }: FeatureInput): (variable: string) => StartupValue | undefined {
  const declared = new Map(
    Object.entries<Setting<unknown>>(SETTINGS).map(([key, setting]) => [
      setting.name,
      { setting, value: settings[key as keyof Settings] },
    ]),
  );
  return (variable) => {
    const known = declared.get(variable);
    if (!known || !isScalar(known.value)) return undefined;
    return {
      value: known.value,
      source: ownValue(sources, variable) ?? 'default',
      fixed: lookUp(known.setting, [...layers, ANY_CONSOLE])?.layer !== 'console',
    };
  };
}

function isScalar(value: unknown): value is Json & (string | number | boolean) {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
