import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { isFeatureName } from '../../domain/platform/features.ts';
import { withheldFeaturesEvents } from '../../domain/platform/withheld-features-events.ts';
import { withheldFeaturesDecider } from '../../domain/platform/withheld-features.ts';
import { streamName } from '../../domain/stream.ts';
import { handleCommand } from '../handle-command.ts';
import { type FeatureChangeDependencies, waitForFeatureChange } from './wait-for-feature-change.ts';

/**
 * Replaces the list of features that a tenant may not use. The routes of these features then answer 404 in the tenant.
 * @returns the position to wait for; undefined when the list did not change
 * @throws `validation_failed` for a name that is not a feature
 */
export async function withholdFeatures(
  { tenant, withheld }: { readonly tenant: string; readonly withheld: readonly string[] },
  context: CommandContext,
  dependencies: FeatureChangeDependencies,
): Promise<GlobalPosition | undefined> {
  const unknown = withheld.filter((name) => !isFeatureName(name));
  if (unknown.length > 0)
    throw refusal('validation_failed', {
      fields: unknown.map((name) => ({ field: 'withheld', message: `unknown feature: ${name}` })),
    });
  const features = withheld.filter(isFeatureName);
  const { position } = await handleCommand(
    {
      stream: streamName({ category: 'settings', tenant, id: 'features' }),
      decider: withheldFeaturesDecider,
      parse: withheldFeaturesEvents.parse,
      decide: (state) => withheldFeaturesDecider.decide(state, { kind: 'replace', features }),
    },
    { ...context, tenant },
    dependencies,
  );
  await waitForFeatureChange(position, dependencies);
  return position;
}
