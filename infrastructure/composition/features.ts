import { createFeatures } from '../../application/platform/features.ts';
import type { Features } from '../../application/platform/features.ts';
import type { FeatureSettings, FeatureSettingSource } from '../../application/platform/feature-settings.ts';
import { createFeatureSettings } from '../../application/platform/feature-settings.ts';
import type { Entitlements } from '../../application/ports/entitlements.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Vault } from '../../application/ports/vault.ts';
import type { Json } from '../../domain/json.ts';
import type { ProjectionProgress } from '../../projections/engine/projection.ts';
import { featureQueries } from '../../projections/platform/queries.ts';
import type { Setting } from '../configuration/setting.ts';
import type { Settings } from '../configuration/settings/index.ts';
import { SETTINGS } from '../configuration/settings/index.ts';
import type { Stores } from './stores.ts';

export type FeaturesOptions = {
  readonly stores: Pick<Stores, 'database'>;
  readonly settings: Settings;
  /** Where each variable came from. */
  readonly sources: Readonly<Record<string, FeatureSettingSource>>;
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

/** Between looks where signals got lost: what another process changed holds here within a second. */
const POLL_MS = 800;

/** Puts the install's features together; this process goes by what others change within a second. */
export async function composeFeatures({ stores, settings, sources, entitlements, progress, vault, logger }: FeaturesOptions): Promise<InstallFeatures> {
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
  const values = new Map(Object.entries<Setting<unknown>>(SETTINGS).map(([key, { name }]) => [name, settings[key as keyof Settings]]));
  return {
    features,
    settings: createFeatureSettings({
      features, vault,
      startedWith(variable) {
        const value = values.get(variable);
        return isScalar(value) ? { value, source: sources[variable] ?? 'default' } : undefined;
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
