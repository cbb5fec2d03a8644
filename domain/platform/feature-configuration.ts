import { sameJson } from '../content/same-json.ts';
import type { Decider } from '../decider.ts';
import { type JsonObject, isJsonObject } from '../json.ts';
import { ownValue } from '../own-value.ts';
import type { FeatureConfigurationEvent } from './feature-configuration-events.ts';

/** The settings that the console saved for a feature: plain values, and secrets as sealed values. */
export type FeatureConfiguration = {
  readonly values: JsonObject;
  readonly secrets: Readonly<Record<string, JsonObject>>;
};

export type FeatureConfigurationCommand =
  /** Saves `values` and `secrets` (sealed), and sets those in `removed` back to their defaults. Other settings stay. */
  | {
      readonly kind: 'configure';
      readonly feature: string;
      readonly values: JsonObject;
      readonly secrets: JsonObject;
      readonly removed: readonly string[];
    }
  | { readonly kind: 'reset'; readonly feature: string };

type CommandOf<Kind extends FeatureConfigurationCommand['kind']> = Extract<
  FeatureConfigurationCommand,
  { readonly kind: Kind }
>;

export const featureConfigurationDecider: Decider<
  FeatureConfiguration,
  FeatureConfigurationCommand,
  FeatureConfigurationEvent
> = {
  initialState,
  decide,
  evolve,
};

function initialState(): FeatureConfiguration {
  return { values: {}, secrets: {} };
}

/**
 * The event holds only the settings that differ. Every secret counts as a change, because sealed values cannot be
 * compared.
 */
function decide(
  state: FeatureConfiguration,
  command: FeatureConfigurationCommand,
): readonly FeatureConfigurationEvent[] {
  switch (command.kind) {
    case 'configure':
      return configure(state, command);
    case 'reset':
      return isEmpty(state.values) && isEmpty(state.secrets)
        ? []
        : [{ type: 'FeatureConfigurationReset', data: { feature: command.feature } }];
  }
}

function configure(
  state: FeatureConfiguration,
  { feature, values: wanted, secrets, removed: unwanted }: CommandOf<'configure'>,
): readonly FeatureConfigurationEvent[] {
  const values = Object.fromEntries(
    Object.entries(wanted).filter(([key, value]) => !sameJson(value, ownValue(state.values, key) ?? null)),
  );
  const removed = unwanted.filter((key) => Object.hasOwn(state.values, key) || Object.hasOwn(state.secrets, key));
  if (isEmpty(values) && isEmpty(secrets) && removed.length === 0) return [];
  return [{ type: 'FeatureConfigured', data: { feature, values, secrets, removed } }];
}

function evolve(state: FeatureConfiguration, event: FeatureConfigurationEvent): FeatureConfiguration {
  switch (event.type) {
    case 'FeatureConfigured': {
      const { values, secrets, removed } = event.data;
      return {
        values: without({ ...state.values, ...values }, removed),
        secrets: without({ ...state.secrets, ...objectsOf(secrets) }, removed),
      };
    }
    case 'FeatureConfigurationReset':
      return initialState();
  }
}

function isEmpty(record: object): boolean {
  return Object.keys(record).length === 0;
}

function without<T>(record: Readonly<Record<string, T>>, keys: readonly string[]): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !keys.includes(key)));
}

function objectsOf(record: JsonObject): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(
    Object.entries(record).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1])),
  );
}
