import type { Json, JsonObject } from '../../domain/json.ts';
import type { FeatureName, FeatureSetting } from '../../domain/platform/features.ts';
import { declarationOf } from '../../domain/platform/features.ts';
import type { Sealed, Vault } from '../ports/vault.ts';
import type { Features } from './features.ts';

/** What a stored secret reads as; written back it keeps the stored one (spec 1, Configuration). */
export const MASK = '********';

/** Layer that a value came from (spec 1, Configuration). */
export type FeatureSettingSource = 'environment' | 'file' | 'console' | 'default';

/** A variable as the process was started with; `fixed`: the console may not take it over. */
export type StartedWith = { readonly value: Json; readonly source: FeatureSettingSource; readonly fixed: boolean };

type Found = Pick<StartedWith, 'value' | 'source'>;

/** The settings of features as they are in force: environment, file, console, default; the first that knows one wins, unless it lets the console take over. */
export type FeatureSettings = {
  /** What a feature declares. */
  declared(feature: FeatureName): Readonly<Record<string, FeatureSetting>>;
  /** The layer above the console that sets it; undefined: the console may. */
  fixedBy(feature: FeatureName, key: string): FeatureSettingSource | undefined;
  /** A value that is no secret. @throws Error for a setting that is not declared */
  value(feature: FeatureName, key: string): Json;
  /** A secret in clear; undefined where none is stored. */
  secret(feature: FeatureName, key: string): string | undefined;
  /** All of them, secrets masked (empty where none is stored), and where each came from. */
  view(feature: FeatureName): { readonly config: JsonObject; readonly sources: Readonly<Record<string, FeatureSettingSource>> };
};

export type FeatureSettingsOptions = {
  readonly features: Pick<Features, 'saved'>;
  readonly vault: Pick<Vault, 'openSecret'>;
  /** What the process was started with, by variable. */
  readonly startedWith: (variable: string) => StartedWith | undefined;
  /** Default: the declarations of the features. */
  readonly declared?: (feature: FeatureName) => Readonly<Record<string, FeatureSetting>>;
};

export function createFeatureSettings({ features, vault, startedWith, declared = settingsOf }: FeatureSettingsOptions): FeatureSettings {
  function lookUp(feature: FeatureName, key: string): Found {
    const setting = declared(feature)[key];
    if (!setting) throw new Error(`${feature} has no setting ${key}`);
    const started = setting.variable === undefined ? undefined : startedWith(setting.variable);
    if (started?.fixed === true) return started;
    const saved = features.saved(feature);
    if (setting.secret) return saved?.secrets[key] === undefined ? { value: '', source: 'default' } : { value: MASK, source: 'console' };
    const value = saved?.values[key];
    if (value !== undefined) return { value, source: 'console' };
    return started ?? { value: setting.fallback, source: 'default' };
  }
  return {
    declared,
    fixedBy(feature, key) {
      const variable = declared(feature)[key]?.variable;
      const started = variable === undefined ? undefined : startedWith(variable);
      return started?.fixed === true ? started.source : undefined;
    },
    value: (feature, key) => lookUp(feature, key).value,
    secret(feature, key) {
      const sealed = features.saved(feature)?.secrets[key];
      return sealed && isSealed(sealed) ? vault.openSecret(secretPurpose(feature, key), sealed) : undefined;
    },
    view(feature) {
      const found = Object.keys(declared(feature)).map((key) => [key, lookUp(feature, key)] as const);
      return {
        config: Object.fromEntries(found.map(([key, { value }]) => [key, value])),
        sources: Object.fromEntries(found.map(([key, { source }]) => [key, source])),
      };
    },
  };
}

/** What a sealed setting is bound to. */
export function secretPurpose(feature: FeatureName, key: string): string {
  return `feature/${feature}/${key}`;
}

function settingsOf(feature: FeatureName): Readonly<Record<string, FeatureSetting>> {
  return declarationOf(feature).settings ?? {};
}

function isSealed(value: JsonObject): value is Sealed {
  return value['$sealed'] === 1 && typeof value['k'] === 'string' && typeof value['n'] === 'string' && typeof value['c'] === 'string';
}
