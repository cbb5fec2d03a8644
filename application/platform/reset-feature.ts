import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { FeatureName } from '../../domain/platform/features.ts';
import { decideOnFeature } from './decide-on-feature.ts';
import type { FeatureChangeDependencies } from './wait-for-feature-change.ts';

/**
 * Sets all settings of a feature back to their defaults.
 * @returns the position to wait for; undefined when nothing changed
 */
export async function resetFeature(
  { feature }: { readonly feature: FeatureName },
  context: CommandContext,
  dependencies: FeatureChangeDependencies,
): Promise<GlobalPosition | undefined> {
  const { position } = await decideOnFeature(
    { feature, commandFor: () => ({ kind: 'reset', feature }) },
    context,
    dependencies,
  );
  return position;
}
