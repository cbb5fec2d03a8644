import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { isFeatureName } from '../../domain/platform/features.ts';
import { parseWithheldFeaturesEvent, withheldFeaturesDecider, withholdFeatures as decide } from '../../domain/platform/withheld-features.ts';
import { streamName } from '../../domain/stream.ts';
import { handleCommand } from '../handle-command.ts';
import type { FeatureChanges } from './feature-changes.ts';
import { settled } from './feature-changes.ts';

/**
 * Replaces the list of features that a tenant lacks; their routes answer 404 there from then on (spec 1, features).
 * @returns position to wait for; undefined when the list said the same
 * @throws `validation_failed` for a name that is no feature's
 */
export async function withholdFeatures(
  dependencies: FeatureChanges,
  { tenant, withheld }: { readonly tenant: string; readonly withheld: readonly string[] },
  context: CommandContext,
): Promise<GlobalPosition | undefined> {
  const unknown = withheld.filter((name) => !isFeatureName(name));
  if (unknown.length > 0) throw refusal('validation_failed', { fields: unknown.map((name) => ({ field: 'withheld', message: `unknown feature: ${name}` })) });
  const { position } = await handleCommand({
    eventStore: dependencies.eventStore,
    stream: streamName({ category: 'settings', tenant, id: 'features' }),
    decider: withheldFeaturesDecider,
    parse: parseWithheldFeaturesEvent,
    context: { ...context, tenant },
    decide: (state) => decide(state, withheld.filter(isFeatureName)),
  });
  await settled(dependencies, position);
  return position;
}
