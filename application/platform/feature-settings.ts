import type { Json, JsonObject } from '../../domain/json.ts';
import { ownValue } from '../../domain/own-value.ts';
import { type FeatureName, type FeatureSetting, declarationOf } from '../../domain/platform/features.ts';
import type { SealedValue } from '../../domain/sealed-value.ts';
import { SECRET_MASK } from '../../domain/secret-mask.ts';
import type { Vault } from '../ports/vault.ts';
import type { Features } from './features.ts';

/** Layer that sets a value. */
export type FeatureSettingSource = 'environment' | 'file' | 'console' | 'default';

/** Value of an environment variable at the start of the process. `fixed`: the console cannot override it. */
export type StartupValue = { readonly value: Json; readonly source: FeatureSettingSource; readonly fixed: boolean };

type EffectiveValue = Pick<StartupValue, 'value' | 'source'>;

/**
 * The effective settings of features. The first layer that sets a value wins: environment, settings file, console,
 * default. A variable that is not `fixed` can be overridden by the console.
 */
export type FeatureSettings = {
  /** The settings that a feature declares, by name. */
  declared(feature: FeatureName): Readonly<Record<string, FeatureSetting>>;
  /** The layer that sets the value and that the console cannot override; undefined when the console can set it. */
  fixedBy(feature: FeatureName, key: string): FeatureSettingSource | undefined;
  /**
   * The effective value of a setting that is not a secret.
   * @throws Error for a setting that the feature does not declare
   */
  value(feature: FeatureName, key: string): Json;
  /** A secret in plain text; undefined when none is stored. */
  secret(feature: FeatureName, key: string): string | undefined;
  /** All values of a feature with their layers. Stored secrets are masked; secrets that are not stored are empty. */
  view(feature: FeatureName): {
    readonly config: JsonObject;
    readonly sources: Readonly<Record<string, FeatureSettingSource>>;
  };
};

export type FeatureSettingsOptions = {
  readonly features: Pick<Features, 'saved'>;
  readonly vault: Pick<Vault, 'openSecret'>;
  /** Returns the value of a variable at the start of the process; undefined when it is not declared. */
  readonly startupValue: (variable: string) => StartupValue | undefined;
  /** Default: the settings in `FEATURES`. */
  readonly declared?: (feature: FeatureName) => Readonly<Record<string, FeatureSetting>>;
};

export function createFeatureSettings({
  features,
  vault,
  startupValue,
  declared = settingsOf,
}: FeatureSettingsOptions): FeatureSettings {
  function lookUp(feature: FeatureName, key: string): EffectiveValue {
    const setting = ownValue(declared(feature), key);
    if (!setting) throw new Error(`${feature} has no setting ${key}`);
    const started = setting.variable === undefined ? undefined : startupValue(setting.variable);
    if (started?.fixed === true) return started;
    const saved = features.saved(feature);
    if (setting.secret)
      return ownValue(saved?.secrets ?? {}, key) === undefined
        ? { value: '', source: 'default' }
        : { value: SECRET_MASK, source: 'console' };
    const value = ownValue(saved?.values ?? {}, key);
    if (value !== undefined) return { value, source: 'console' };
    return started ?? { value: setting.fallback, source: 'default' };
  }
  return {
    declared,
    fixedBy(feature, key) {
      const variable = ownValue(declared(feature), key)?.variable;
      const started = variable === undefined ? undefined : startupValue(variable);
      return started?.fixed === true ? started.source : undefined;
    },
    value: (feature, key) => lookUp(feature, key).value,
    secret(feature, key) {
      const sealed = ownValue(features.saved(feature)?.secrets ?? {}, key);
      return sealed && isSealed(sealed) ? vault.openSecret(secretPurpose(feature, key), sealed) : undefined;
    },
    view(feature) {
      const settings = Object.keys(declared(feature)).map((key) => [key, lookUp(feature, key)] as const);
      return {
        config: Object.fromEntries(settings.map(([key, { value }]) => [key, value])),
        sources: Object.fromEntries(settings.map(([key, { source }]) => [key, source])),
      };
    },
  };
}

/** Purpose under which a secret setting is sealed. */
export function secretPurpose(feature: FeatureName, key: string): string {
  return `feature/${feature}/${key}`;
}

function settingsOf(feature: FeatureName): Readonly<Record<string, FeatureSetting>> {
  return declarationOf(feature).settings ?? {};
}

function isSealed(value: JsonObject): value is SealedValue {
  return (
    value['$sealed'] === 1 &&
    typeof value['k'] === 'string' &&
    typeof value['n'] === 'string' &&
    typeof value['c'] === 'string'
  );
}
