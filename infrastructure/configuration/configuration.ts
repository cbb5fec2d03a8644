import type { Configuration, ConsoleTexts, SettingView } from '../../application/ports/configuration.ts';
import type { Json } from '../../domain/json.ts';
import { SECRET_MASK } from '../../domain/secret-mask.ts';
import { refusalsOf } from './load-settings.ts';
import { type ReadSettings, type SettingsLayer, lookUp, readSettings } from './read-settings.ts';
import type { Setting } from './setting.ts';
import { SETTINGS, type Settings } from './settings/index.ts';

const DECLARED: ReadonlyMap<string, { readonly field: keyof Settings; readonly setting: Setting<unknown> }> = new Map(
  Object.entries<Setting<unknown>>(SETTINGS).map(([field, setting]) => [
    setting.name,
    { field: field as keyof Settings, setting },
  ]),
);

/**
 * The settings of a process. `layers`: the layers that it started with, highest first; the console layer is added below
 * them.
 */
export function createConfiguration(
  layers: readonly SettingsLayer[],
): Configuration & { withConsole(saved: ConsoleTexts): ReadSettings } {
  const withConsole = (saved: ConsoleTexts) => readSettings([...layers, consoleLayer(saved)]);
  return {
    withConsole,
    isSecret: (key) => DECLARED.get(key)?.setting.secret === true,
    list(saved) {
      const { settings, sources } = withConsole(saved);
      return [...DECLARED.values()].map(({ field, setting }): SettingView => ({
        key: setting.name,
        value: shown(settings[field], setting),
        source: sources[setting.name] ?? 'default',
        overridable: whyNotInConsole(setting) === undefined,
        secret: setting.secret,
        default: setting.shownDefault,
        description: setting.description,
      }));
    },
    refusalOf(key, text, saved) {
      const setting = DECLARED.get(key)?.setting;
      if (!setting) return 'there is no such setting';
      const reason = whyNotInConsole(setting);
      if (reason !== undefined) return reason;
      if (text === '') return undefined;
      const parsed = setting.parser.parse(text);
      if (!parsed.ok) return parsed.remedy;
      const before = new Set(refusalsOf(withConsole(saved).settings).map(({ variable }) => variable));
      const after = refusalsOf(withConsole(new Map([...saved, [key, text]])).settings).find(
        ({ variable }) => !before.has(variable),
      );
      return after === undefined ? undefined : `${after.variable}: ${after.remedy}`;
    },
  };

  /** Why the console may not set a setting; undefined when it may. */
  function whyNotInConsole(setting: Setting<unknown>): string | undefined {
    if (setting.layers === 'environment') return 'it is read from the environment only';
    if (setting.layers === 'start')
      return 'it is needed before the console can be read: set it in the environment or in svc.yaml';
    const found = lookUp(setting, [...layers, consoleLayer(new Map([[setting.name, '']]))]);
    if (found?.layer === 'environment') return 'the environment sets it; SVC_OVERRIDABLE lets the console take it over';
    if (found?.layer === 'file') return 'svc.yaml sets it; the tag !overridable lets the console take it over';
    return undefined;
  }
}

function consoleLayer(saved: ConsoleTexts): SettingsLayer {
  return { name: 'console', get: (variable) => saved.get(variable) };
}

/** A value as JSON. Secrets are masked; an unset value is null. */
function shown(value: unknown, { secret }: Pick<Setting<unknown>, 'secret'>): Json {
  if (value === undefined || (Array.isArray(value) && value.length === 0 && secret)) return null;
  if (secret) return SECRET_MASK;
  if (Array.isArray(value)) return value.map(String);
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : JSON.stringify(value);
}
