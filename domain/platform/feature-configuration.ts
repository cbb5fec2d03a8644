import type { Decider } from '../decider.ts';
import type { DomainEvent, RecordedEvent } from '../event.ts';
import type { Json, JsonObject } from '../json.ts';
import { sameJson } from '../content/same-json.ts';

/** What the console saved for a feature: plain values, and secrets sealed. */
export type FeatureConfiguration = { readonly values: JsonObject; readonly secrets: Readonly<Record<string, JsonObject>> };

export type FeatureConfigurationEvent =
  /** `removed`: back to their defaults. */
  | DomainEvent<'FeatureConfigured', { readonly feature: string; readonly values: JsonObject; readonly secrets: JsonObject; readonly removed: readonly string[] }>
  | DomainEvent<'FeatureConfigurationReset', { readonly feature: string }>;

export const featureConfigurationDecider: Decider<FeatureConfiguration, FeatureConfigurationEvent> = {
  initialState: () => ({ values: {}, secrets: {} }),
  evolve(state, event) {
    if (event.type === 'FeatureConfigurationReset') return { values: {}, secrets: {} };
    const { values, secrets, removed } = event.data;
    return { values: without({ ...state.values, ...values }, removed), secrets: without({ ...state.secrets, ...objectsOf(secrets) }, removed) };
  },
};

export type ConfigurationChange = { readonly values: JsonObject; readonly secrets: JsonObject; readonly removed: readonly string[] };

/** Saves what differs from what is saved. */
export function configureFeature(state: FeatureConfiguration, feature: string, change: ConfigurationChange): readonly FeatureConfigurationEvent[] {
  const values = Object.fromEntries(Object.entries(change.values).filter(([key, value]) => !sameJson(value, state.values[key] ?? null)));
  const removed = change.removed.filter((key) => key in state.values || key in state.secrets);
  if (Object.keys(values).length === 0 && Object.keys(change.secrets).length === 0 && removed.length === 0) return [];
  return [{ type: 'FeatureConfigured', data: { feature, values, secrets: change.secrets, removed } }];
}

/** Forgets everything that was saved. */
export function resetFeature({ values, secrets }: FeatureConfiguration, feature: string): readonly FeatureConfigurationEvent[] {
  if (Object.keys(values).length === 0 && Object.keys(secrets).length === 0) return [];
  return [{ type: 'FeatureConfigurationReset', data: { feature } }];
}

const TYPES: ReadonlySet<string> = new Set<FeatureConfigurationEvent['type']>(['FeatureConfigured', 'FeatureConfigurationReset']);

/** Whether an event is of a feature's configuration: its category holds other settings too. */
export function isFeatureConfigurationEvent(event: RecordedEvent): event is RecordedEvent & FeatureConfigurationEvent {
  return TYPES.has(event.type);
}

/** @throws RangeError for another event */
export function parseFeatureConfigurationEvent(event: RecordedEvent): FeatureConfigurationEvent {
  if (!isFeatureConfigurationEvent(event)) throw new RangeError(`no event of a feature's configuration: ${event.type} in ${event.stream}`);
  return event;
}

function without<T>(record: Readonly<Record<string, T>>, keys: readonly string[]): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !keys.includes(key)));
}

function objectsOf(record: JsonObject): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(Object.entries(record).filter((entry): entry is [string, JsonObject] => isObject(entry[1])));
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
