import type { Decider } from '../decider.ts';
import type { FeatureName } from './features.ts';
import type { WithheldFeaturesEvent } from './withheld-features-events.ts';

/** Names of the features that a tenant may not use, sorted. */
export type WithheldFeatures = readonly string[];

export type WithheldFeaturesCommand = { readonly kind: 'replace'; readonly features: readonly FeatureName[] };

export const withheldFeaturesDecider: Decider<WithheldFeatures, WithheldFeaturesCommand, WithheldFeaturesEvent> = {
  initialState: () => [],
  decide(state, { features }) {
    const withheld = [...new Set(features)].toSorted();
    return withheld.join() === state.join() ? [] : [{ type: 'FeaturesWithheld', data: { withheld } }];
  },
  evolve: (_state, { data }) => data.withheld,
};
