import type { Decider } from '../decider.ts';
import { sameList } from '../same-list.ts';
import type { FeatureName } from './features.ts';
import type { WithheldFeaturesEvent } from './withheld-features-events.ts';

/** Names of the features that a tenant may not use, sorted. */
export type WithheldFeatures = readonly string[];

export type WithheldFeaturesCommand = { readonly kind: 'replace'; readonly features: readonly FeatureName[] };

export const withheldFeaturesDecider: Decider<WithheldFeatures, WithheldFeaturesCommand, WithheldFeaturesEvent> = {
  initialState,
  decide,
  evolve,
};

function initialState(): WithheldFeatures {
  return [];
}

function decide(state: WithheldFeatures, command: WithheldFeaturesCommand): readonly WithheldFeaturesEvent[] {
  const withheld = [...new Set(command.features)].toSorted();
  return sameList(withheld, state) ? [] : [{ type: 'FeaturesWithheld', data: { withheld } }];
}

function evolve(_state: WithheldFeatures, event: WithheldFeaturesEvent): WithheldFeatures {
  return event.data.withheld;
}
