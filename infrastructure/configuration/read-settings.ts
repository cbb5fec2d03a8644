import type { Setting } from './setting.ts';
import type { Settings } from './settings/index.ts';
import { SETTINGS } from './settings/index.ts';

/** One layer of settings (spec 1, Configuration): the environment, later a file and the console. The first that knows a variable wins. */
export type SettingsLayer = {
  readonly name: 'environment' | 'file' | 'console';
  /** An empty text turns the setting off: it counts as unset, in this layer and all below. */
  readonly get: (variable: string) => string | undefined;
};

/** Why the start is refused: which variable, and what to do. Never holds a value. */
export type SettingsProblem = { readonly variable: string; readonly remedy: string };

export type ReadSettings = {
  readonly settings: Settings;
  /** Where each value came from, by variable. */
  readonly sources: Readonly<Record<string, SettingsLayer['name'] | 'default'>>;
  /** All of them at once; with any the settings must not be used. */
  readonly problems: readonly SettingsProblem[];
};

/** Reads and parses every declared setting. */
export function readSettings(layers: readonly SettingsLayer[]): ReadSettings {
  const values: Record<string, unknown> = {};
  const sources: Record<string, SettingsLayer['name'] | 'default'> = {};
  const problems: SettingsProblem[] = [];
  for (const [key, declared] of Object.entries<Setting<unknown>>(SETTINGS)) {
    const found = lookUp(declared.name, layers);
    const parsed = found && found.text !== '' ? declared.parser.parse(found.text) : undefined;
    if (parsed && !parsed.ok && !declared.lenient) problems.push({ variable: declared.name, remedy: parsed.remedy });
    values[key] = parsed?.ok ? parsed.value : declared.fallback;
    sources[declared.name] = found && parsed?.ok ? found.layer : 'default';
  }
  return { settings: checked(values), sources, problems };
}

/** The environment as a layer. Blanks around a value are dropped. */
export function environmentLayer(environment: Readonly<Record<string, string | undefined>>): SettingsLayer {
  return { name: 'environment', get: (variable) => environment[variable]?.trim() };
}

function lookUp(variable: string, layers: readonly SettingsLayer[]): { readonly text: string; readonly layer: SettingsLayer['name'] } | undefined {
  for (const layer of layers) {
    const text = layer.get(variable);
    if (text !== undefined) return { text, layer: layer.name };
  }
  return undefined;
}

/** Narrows the collected values: each came out of the parser or the default of its own declaration. */
function checked(values: Record<string, unknown>): Settings {
  for (const key of Object.keys(SETTINGS)) if (!(key in values)) throw new Error(`the setting ${key} was not read`);
  return values as Settings;
}
