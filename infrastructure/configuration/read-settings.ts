import type { Setting } from './setting.ts';
import type { Settings } from './settings/index.ts';
import { SETTINGS } from './settings/index.ts';

/** One layer of settings (spec 1, Configuration). */
export type SettingsLayer = {
  readonly name: 'environment' | 'file' | 'console' | 'default';
  /** An empty text turns the setting off: it counts as unset, in this layer and all below. */
  readonly get: (variable: string) => string | undefined;
  /** Whether the console may take over what this layer says. Default: it may not. */
  readonly overridable?: (variable: string) => boolean;
};

/** Why the start is refused: which variable, and what to do. Never holds a value. */
export type SettingsProblem = { readonly variable: string; readonly remedy: string };

/** Where a value came from. */
export type SettingsSource = SettingsLayer['name'];

export type ReadSettings = {
  readonly settings: Settings;
  /** Where each value came from, by variable. */
  readonly sources: Readonly<Record<string, SettingsSource>>;
  /** All of them at once; with any the settings must not be used. */
  readonly problems: readonly SettingsProblem[];
};

/**
 * Reads and parses every declared setting. The first layer that knows a variable wins; the console's word counts where no other layer says
 * anything, or the one that does lets itself be overridden.
 */
export function readSettings(layers: readonly SettingsLayer[]): ReadSettings {
  const values: Record<string, unknown> = {};
  const sources: Record<string, SettingsSource> = {};
  const problems: SettingsProblem[] = [];
  for (const [key, declared] of Object.entries<Setting<unknown>>(SETTINGS)) {
    const found = lookUp(declared, layers);
    const parsed = found && found.text !== '' ? declared.parser.parse(found.text) : undefined;
    if (parsed && !parsed.ok && !declared.lenient) problems.push({ variable: declared.name, remedy: parsed.remedy });
    values[key] = parsed?.ok ? parsed.value : declared.fallback;
    sources[declared.name] = found && (parsed?.ok ?? true) ? found.layer : 'default';
  }
  return { settings: checked(values), sources, problems };
}

/** The environment as a layer. Blanks around a value are dropped. `SVC_OVERRIDABLE` lists what the console may take over. */
export function environmentLayer(environment: Readonly<Record<string, string | undefined>>): SettingsLayer {
  const given = new Set((environment['SVC_OVERRIDABLE'] ?? '').split(',').map((name) => name.trim()));
  return { name: 'environment', get: (variable) => environment[variable]?.trim(), overridable: (variable) => given.has(variable) };
}

/** What the layers say of a variable. @returns undefined where none says anything */
export function lookUp({ name: variable, layers: allowed }: Pick<Setting<unknown>, 'name' | 'layers'>, layers: readonly SettingsLayer[]): { readonly text: string; readonly layer: SettingsLayer['name'] } | undefined {
  const said = layers.flatMap((layer) => {
    if ((allowed === 'environment' && layer.name !== 'environment') || (allowed === 'start' && layer.name === 'console')) return [];
    const text = layer.get(variable);
    return text === undefined ? [] : [{ text, layer: layer.name, overridable: layer.name === 'console' || layer.overridable?.(variable) === true }];
  });
  const [first] = said;
  return first?.overridable === true ? (said.find(({ layer }) => layer === 'console') ?? first) : first;
}

/** Narrows the collected values: each came out of the parser or the default of its own declaration. */
function checked(values: Record<string, unknown>): Settings {
  for (const key of Object.keys(SETTINGS)) if (!(key in values)) throw new Error(`the setting ${key} was not read`);
  return values as Settings;
}
