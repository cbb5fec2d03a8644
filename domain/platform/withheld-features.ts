import type { Decider } from '../decider.ts';
import type { DomainEvent, RecordedEvent } from '../event.ts';
import type { FeatureName } from './features.ts';

/** The whole list, names in order: what a tenant lacks from then on. */
export type WithheldFeaturesEvent = DomainEvent<'FeaturesWithheld', { readonly withheld: readonly string[] }>;

export const withheldFeaturesDecider: Decider<readonly string[], WithheldFeaturesEvent> = {
  initialState: () => [],
  evolve: (_state, { data }) => data.withheld,
};

/** Replaces the list; nothing happens where it says the same. */
export function withholdFeatures(state: readonly string[], wanted: readonly FeatureName[]): readonly WithheldFeaturesEvent[] {
  const withheld = [...new Set(wanted)].toSorted();
  return withheld.join() === state.join() ? [] : [{ type: 'FeaturesWithheld', data: { withheld } }];
}

/** Whether an event says what a tenant lacks: its category holds other settings too. */
export function isWithheldFeaturesEvent(event: RecordedEvent): event is RecordedEvent & WithheldFeaturesEvent {
  return event.type === 'FeaturesWithheld';
}

/** @throws RangeError for another event */
export function parseWithheldFeaturesEvent(event: RecordedEvent): WithheldFeaturesEvent {
  if (!isWithheldFeaturesEvent(event)) throw new RangeError(`no event of withheld features: ${event.type} in ${event.stream}`);
  return event;
}
