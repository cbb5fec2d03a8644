import type { CommandContext } from '../../domain/context.ts';
import { DEFAULT_TENANT } from '../../domain/identity/memberships.ts';
import { featureConfigurationEvents } from '../../domain/platform/feature-configuration-events.ts';
import {
  type FeatureConfiguration,
  type FeatureConfigurationCommand,
  featureConfigurationDecider,
} from '../../domain/platform/feature-configuration.ts';
import type { FeatureName } from '../../domain/platform/features.ts';
import { streamName } from '../../domain/stream.ts';
import { type CommandFor, type CommandOutcome, decideBy, handleCommand } from '../handle-command.ts';
import { type FeatureChangeDependencies, waitForFeatureChange } from './wait-for-feature-change.ts';

/** Stream of the settings of a feature. They belong to the installation. */
function featureStream(feature: FeatureName): string {
  return streamName({ category: 'settings', tenant: DEFAULT_TENANT, id: `feature.${feature}` });
}

export type DecideOnFeatureInput = {
  readonly feature: FeatureName;
  readonly commandFor: CommandFor<FeatureConfiguration, FeatureConfigurationCommand>;
};

/** Runs a command on the settings of a feature, and waits until this process applies the change. */
export async function decideOnFeature(
  { feature, commandFor }: DecideOnFeatureInput,
  context: CommandContext,
  dependencies: FeatureChangeDependencies,
): Promise<CommandOutcome<FeatureConfiguration>> {
  const outcome = await handleCommand(
    {
      stream: featureStream(feature),
      decider: featureConfigurationDecider,
      parse: featureConfigurationEvents.parse,
      decide: decideBy(featureConfigurationDecider, commandFor),
    },
    { ...context, tenant: DEFAULT_TENANT },
    dependencies,
  );
  await waitForFeatureChange(outcome.position, dependencies);
  return outcome;
}
