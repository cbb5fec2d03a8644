import { ownValue } from '../../domain/own-value.ts';
import type { Parsed, Setting } from './setting.ts';
import { SETTINGS, type Settings } from './settings/index.ts';

/** One source of settings, such as the environment. */
export type SettingsLayer = {
  readonly name: 'environment' | 'file' | 'console' | 'default';
  /**
   * Empty text turns the setting off, even if a lower layer or the default has a value. Undefined: the next lower layer
   * decides.
   */
  readonly get: (variable: string) => string | undefined;
  /** Whether the console may override the value of this layer. Default: no. */
  readonly overridable?: (variable: string) => boolean;
};

/** A reason not to start: the variable and what to do about it. Never contains a value. */
export type SettingsProblem = {
  readonly variable: string;
  readonly remedy: string;
  /** Further variables whose values cause the problem. Default: none. */
  readonly related?: readonly string[];
};

/** The layer that a value comes from. */
export type SettingsSource = SettingsLayer['name'];

export type ReadSettings = {
  readonly settings: Settings;
  /** The layer of each value, by variable. */
  readonly sources: Readonly<Record<string, SettingsSource>>;
  /** Every value that does not parse. If there is one, the settings must not be used. */
  readonly problems: readonly SettingsProblem[];
  /** Every value that does not parse and that the default replaces. */
  readonly ignored: readonly SettingsProblem[];
};

/**
 * Reads and parses every declared setting. `layers`: highest first; the first layer with a value wins. The console wins
 * over a higher layer that marks the variable as overridable.
 */
export function readSettings(layers: readonly SettingsLayer[]): ReadSettings {
  const values: Record<string, unknown> = {};
  const sources: Record<string, SettingsSource> = {};
  const problems: SettingsProblem[] = [];
  const ignored: SettingsProblem[] = [];
  for (const [key, declared] of Object.entries<Setting<unknown>>(SETTINGS)) {
    const found = lookUp(declared, layers);
    const parsed = found && parse(declared, found.text);
    if (parsed?.ok === false)
      (declared.lenient ? ignored : problems).push({ variable: declared.name, remedy: parsed.remedy });
    // `APP_ENV` is declared before every setting whose default depends on it.
    const fallback = values['appEnv'] === 'development' ? declared.fallbackOutsideProduction : declared.fallback;
    values[key] = parsed?.ok ? parsed.value : fallback;
    sources[declared.name] = found && parsed?.ok ? found.layer : 'default';
  }
  return { settings: checked(values), sources, problems, ignored };
}

function parse({ parser, off }: Setting<unknown>, text: string): Parsed<unknown> {
  return text === '' ? { ok: true, value: off } : parser.parse(text);
}

/**
 * The environment as a layer. Values are trimmed. `SVC_OVERRIDABLE` lists the variables that the console may override.
 */
export function environmentLayer(environment: Readonly<Record<string, string | undefined>>): SettingsLayer {
  const overridable = new Set((environment['SVC_OVERRIDABLE'] ?? '').split(',').map((name) => name.trim()));
  return {
    name: 'environment',
    get: (variable) => ownValue(environment, variable)?.trim(),
    overridable: (variable) => overridable.has(variable),
  };
}

/** The text of a variable and the layer that it comes from. @returns undefined when no layer has one */
export function lookUp(
  { name: variable, layers: allowed }: Pick<Setting<unknown>, 'name' | 'layers'>,
  layers: readonly SettingsLayer[],
): { readonly text: string; readonly layer: SettingsLayer['name'] } | undefined {
  const found = layers.flatMap((layer) => {
    if (
      (allowed === 'environment' && layer.name !== 'environment') ||
      (allowed === 'start' && layer.name === 'console')
    )
      return [];
    const text = layer.get(variable);
    return text === undefined
      ? []
      : [{ text, layer: layer.name, overridable: layer.name === 'console' || layer.overridable?.(variable) === true }];
  });
  const [first] = found;
  return first?.overridable === true ? (found.find(({ layer }) => layer === 'console') ?? first) : first;
}

/**
 * Each value comes from the parser or the default of its own declaration, so the record has the type of the settings.
 */
function checked(values: Record<string, unknown>): Settings {
  for (const key of Object.keys(SETTINGS))
    if (!Object.hasOwn(values, key)) throw new Error(`the setting ${key} was not read`);
  return values as Settings;
}
