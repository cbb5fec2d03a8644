import { createFeatures } from '../../application/platform/features.ts';
import type { Features } from '../../application/platform/features.ts';
import type { FeatureSettings } from '../../application/platform/feature-settings.ts';
import { createFeatureSettings } from '../../application/platform/feature-settings.ts';
import type { Entitlements } from '../../application/ports/entitlements.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Vault } from '../../application/ports/vault.ts';
import type { Json } from '../../domain/json.ts';
import type { ProjectionProgress } from '../../projections/engine/projection.ts';
import { featureQueries } from '../../projections/platform/queries.ts';
import type { ReadSettings, SettingsLayer } from '../configuration/read-settings.ts';
import { lookUp } from '../configuration/read-settings.ts';
import type { Setting } from '../configuration/setting.ts';
import type { Settings } from '../configuration/settings/index.ts';
import { SETTINGS } from '../configuration/settings/index.ts';
import type { Stores } from './stores.ts';

export type FeaturesOptions = {
  readonly stores: Pick<Stores, 'database'>;
  readonly settings: Settings;
  /** Where each variable came from; those that are absent count as defaults. */
  readonly sources: ReadSettings['sources'];
  /** What the settings were read from, the console aside. */
  readonly layers: readonly SettingsLayer[];
  readonly entitlements: Entitlements;
  readonly progress: Pick<ProjectionProgress, 'onMove'>;
  readonly vault: Vault;
  readonly logger: Logger;
};

export type InstallFeatures = {
  readonly features: Features;
  readonly settings: FeatureSettings;
  close(): void;
};

/** Stands for a console that says something of everything: what it gets through, the console may set. */
const ANY_CONSOLE: SettingsLayer = { name: 'console', get: () => '' };
/** Between looks where signals got lost: what another process changed holds here within a second. */
const POLL_MS = 800;

/** Puts the install's features together; this process goes by what others change within a second. */
export async function composeFeatures({ stores, settings, sources, layers, entitlements, progress, vault, logger }: FeaturesOptions): Promise<InstallFeatures> {
  const features = createFeatures({ entitlements, records: featureQueries(stores.database), requested: settings.plugins });
  let looking: Promise<void> | undefined;
  let again = false;

  /** A move during a look is looked at right after it. */
  function look(): void {
    again = true;
    looking ??= (async () => {
      while (again) {
        again = false;
        await features.reload().catch((error: unknown) => {
          logger.debug('what the console saved for features was not read', { reason: error instanceof Error ? error.message : String(error) });
        });
      }
      looking = undefined;
    })();
  }

  const stopListening = progress.onMove('platform', (_position, applied) => {
    if (applied) look();
  });
  const poll = setInterval(look, POLL_MS);
  poll.unref();
  await features.reload();
  const declared = new Map(Object.entries<Setting<unknown>>(SETTINGS).map(([key, setting]) => [setting.name, { setting, value: settings[key as keyof Settings] }]));
  return {
    features,
    settings: createFeatureSettings({
      features, vault,
      startedWith(variable) {
        const known = declared.get(variable);
        if (!known || !isScalar(known.value)) return undefined;
        const { setting, value } = known;
        return { value, source: sources[variable] ?? 'default', fixed: lookUp(setting, [...layers, ANY_CONSOLE])?.layer !== 'console' };
      },
    }),
    close() {
      stopListening();
      clearInterval(poll);
    },
  };
}

function isScalar(value: unknown): value is Json & (string | number | boolean) {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
