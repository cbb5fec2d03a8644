import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import { ownValue } from '../../domain/own-value.ts';
import type { FeatureName } from '../../domain/platform/features.ts';
import { SECRET_MASK } from '../../domain/secret-mask.ts';
import type { Vault } from '../ports/vault.ts';
import { decideOnFeature } from './decide-on-feature.ts';
import { type FeatureSettings, secretPurpose } from './feature-settings.ts';
import type { FeatureChangeDependencies } from './wait-for-feature-change.ts';

export type ConfigureFeatureDependencies = FeatureChangeDependencies & {
  readonly vault: Pick<Vault, 'sealSecret'>;
  readonly settings: Pick<FeatureSettings, 'declared' | 'fixedBy'>;
};

/**
 * Saves settings of a feature. Secrets are sealed.
 * @param input `configuration` holds the settings to change, already validated against the feature's schema; other
 * settings stay. Null sets a setting back to its default. For a secret, `********` keeps the stored one and an empty
 * text removes it.
 * @returns the position to wait for; undefined when nothing changed
 * @throws `validation_failed` for a setting that the environment or the settings file sets
 */
export async function configureFeature(
  { feature, configuration }: { readonly feature: FeatureName; readonly configuration: JsonObject },
  context: CommandContext,
  dependencies: ConfigureFeatureDependencies,
): Promise<GlobalPosition | undefined> {
  const declared = dependencies.settings.declared(feature);
  const fixed = Object.keys(configuration).flatMap((key) => {
    const layer = dependencies.settings.fixedBy(feature, key);
    return layer === undefined ? [] : [{ field: key, message: `is set by the ${layer}` }];
  });
  if (fixed.length > 0) throw refusal('validation_failed', { fields: fixed });
  const values: Record<string, Json> = {};
  const secrets: Record<string, JsonObject> = {};
  const removed: string[] = [];
  for (const [key, value] of Object.entries(configuration)) {
    if (value === null || (ownValue(declared, key)?.secret === true && value === '')) removed.push(key);
    else if (ownValue(declared, key)?.secret !== true) values[key] = value;
    else if (typeof value === 'string' && value !== SECRET_MASK)
      secrets[key] = dependencies.vault.sealSecret(secretPurpose(feature, key), value);
  }
  const { position } = await decideOnFeature(
    { feature, commandFor: () => ({ kind: 'configure', feature, values, secrets, removed }) },
    context,
    dependencies,
  );
  return position;
}
