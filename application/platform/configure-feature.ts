import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import { configureFeature as decide, featureConfigurationDecider, parseFeatureConfigurationEvent, resetFeature as decideReset } from '../../domain/platform/feature-configuration.ts';
import type { FeatureName } from '../../domain/platform/features.ts';
import { HOME_TENANT } from '../../domain/identity/memberships.ts';
import { streamName } from '../../domain/stream.ts';
import { handleCommand } from '../handle-command.ts';
import type { Vault } from '../ports/vault.ts';
import type { FeatureChanges } from './feature-changes.ts';
import { settled } from './feature-changes.ts';
import type { FeatureSettings } from './feature-settings.ts';
import { MASK, secretPurpose } from './feature-settings.ts';

export type ConfigureDependencies = FeatureChanges & {
  readonly vault: Pick<Vault, 'sealSecret'>;
  readonly settings: Pick<FeatureSettings, 'declared' | 'fixedBy'>;
};

/**
 * Saves settings of a feature; what `wanted` leaves out stays, null is back to the default. Secrets are sealed; `********` keeps the stored one, an empty text clears it.
 * `wanted` was checked against the feature's schema.
 * @returns position to wait for; undefined when nothing changed
 * @throws `validation_failed` for a setting that the environment or the file sets
 */
export async function configureFeature(dependencies: ConfigureDependencies, { feature, wanted }: { readonly feature: FeatureName; readonly wanted: JsonObject }, context: CommandContext): Promise<GlobalPosition | undefined> {
  const declared = dependencies.settings.declared(feature);
  const fixed = Object.keys(wanted).flatMap((key) => {
    const layer = dependencies.settings.fixedBy(feature, key);
    return layer === undefined ? [] : [{ field: key, message: `is set by the ${layer}` }];
  });
  if (fixed.length > 0) throw refusal('validation_failed', { fields: fixed });
  const values: Record<string, Json> = {};
  const secrets: Record<string, JsonObject> = {};
  const removed: string[] = [];
  for (const [key, value] of Object.entries(wanted)) {
    if (value === null || (declared[key]?.secret === true && value === '')) removed.push(key);
    else if (declared[key]?.secret !== true) values[key] = value;
    else if (typeof value === 'string' && value !== MASK) secrets[key] = dependencies.vault.sealSecret(secretPurpose(feature, key), value);
  }
  return run(dependencies, feature, (state) => decide(state, feature, { values, secrets, removed }), context);
}

/** Forgets everything that was saved for a feature. @returns position to wait for; undefined when there was nothing */
export function resetFeature(dependencies: FeatureChanges, { feature }: { readonly feature: FeatureName }, context: CommandContext): Promise<GlobalPosition | undefined> {
  return run(dependencies, feature, (state) => decideReset(state, feature), context);
}

async function run(dependencies: FeatureChanges, feature: FeatureName, decideOn: (state: Parameters<typeof decide>[0]) => ReturnType<typeof decide>, context: CommandContext): Promise<GlobalPosition | undefined> {
  const { position } = await handleCommand({
    eventStore: dependencies.eventStore,
    stream: streamName({ category: 'settings', tenant: HOME_TENANT, id: `feature.${feature}` }),
    decider: featureConfigurationDecider,
    parse: parseFeatureConfigurationEvent,
    context: { ...context, tenant: HOME_TENANT },
    decide: decideOn,
  });
  await settled(dependencies, position);
  return position;
}
