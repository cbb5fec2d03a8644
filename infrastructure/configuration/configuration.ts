import type {
  Configuration,
  ConsoleChanges,
  ConsoleTexts,
  SettingView,
} from '../../application/ports/configuration.ts';
import type { Json } from '../../domain/json.ts';
import { ownValue } from '../../domain/own-value.ts';
import { SECRET_MASK } from '../../domain/secret-mask.ts';
import { problemsOf } from './load-settings.ts';
import { type ReadSettings, type SettingsLayer, type SettingsProblem, lookUp, readSettings } from './read-settings.ts';
import type { Setting } from './setting.ts';
import { SETTINGS, type Settings } from './settings/index.ts';

const DECLARED: ReadonlyMap<string, { readonly field: keyof Settings; readonly setting: Setting<unknown> }> = new Map(
  Object.entries<Setting<unknown>>(SETTINGS).map(([field, setting]) => [
    setting.name,
    { field: field as keyof Settings, setting },
  ]),
);

export type ProcessConfiguration = Configuration & {
  /** The settings under the layers of the process and the saved texts of the console. */
  readConsole(saved: ConsoleTexts): ReadSettings;
  /** The saved texts without those that would prevent the start. */
  usableOf(saved: ConsoleTexts): ConsoleTexts;
  /** Whether the value of a setting is a number of milliseconds that is set as a duration, such as `30s`. */
  isDuration(key: string): boolean;
};

/**
 * The settings of a process. `layers`: the layers that it started with, highest first; the console layer is added below
 * them.
 */
export function createConfiguration({ layers }: { readonly layers: readonly SettingsLayer[] }): ProcessConfiguration {
  const readConsole = (saved: ConsoleTexts) => readSettings([...layers, consoleLayer(saved)]);
  return {
    readConsole,
    isSecret: (key) => DECLARED.get(key)?.setting.secret === true,
    isDuration: (key) => DECLARED.get(key)?.setting.parser.unit === 'ms',
    list(saved) {
      const { settings, sources } = readConsole(saved);
      return [...DECLARED.values()].map(({ field, setting }): SettingView => ({
        key: setting.name,
        value: shown(settings[field], setting),
        source: ownValue(sources, setting.name) ?? 'default',
        overridable: whyNotInConsole(setting) === undefined,
        secret: setting.secret,
        default: setting.shownDefault,
        description: setting.description,
      }));
    },
    refusalsOf(changes, saved) {
      const refused = new Map<string, string>();
      for (const [key, text] of changes) {
        const reason = refusalOfOne(key, text);
        if (reason !== undefined) refused.set(key, reason);
      }
      const accepted = new Map([...changes].filter(([key]) => !refused.has(key)));
      for (const [key, { variable, remedy }] of dropProblems(accepted, saved))
        refused.set(key, `${variable}: ${remedy}`);
      return refused;
    },
    usableOf(saved) {
      const ignored = dropProblems(saved, new Map());
      return new Map([...saved].filter(([key]) => !ignored.has(key)));
    },
  };

  /** Why the console may not change a setting, without regard to other settings; undefined when it may. */
  function refusalOfOne(key: string, text: string | undefined): string | undefined {
    const setting = DECLARED.get(key)?.setting;
    if (!setting) return 'there is no such setting';
    const reason = whyNotInConsole(setting);
    if (reason !== undefined || text === undefined || text === '') return reason;
    const parsed = setting.parser.parse(text);
    return parsed.ok ? undefined : parsed.remedy;
  }

  /**
   * Judges changes of the console together. Of changes that add a problem to the settings it drops those that the
   * problem concerns, and judges the rest again.
   * @returns the dropped keys, each with its problem
   */
  function dropProblems(changes: ConsoleChanges, saved: ConsoleTexts): ReadonlyMap<string, SettingsProblem> {
    const rest = new Map(changes);
    const dropped = new Map<string, SettingsProblem>();
    const savedProblems = new Set(problemsOf(readConsole(saved)).map(nameOf));
    while (rest.size > 0) {
      const added = problemsOf(readConsole(withChanges(saved, rest))).filter(
        (problem) => !savedProblems.has(nameOf(problem)),
      );
      if (added.length === 0) break;
      const concerned = added.flatMap((problem) =>
        [problem.variable, ...(problem.related ?? [])].filter((key) => rest.has(key)).map((key) => ({ key, problem })),
      );
      // A problem that names none of the changes comes from a check that this function does not know: drop them all.
      const [first] = added;
      if (concerned.length === 0 && first) concerned.push(...[...rest.keys()].map((key) => ({ key, problem: first })));
      for (const { key, problem } of concerned) {
        if (!dropped.has(key)) dropped.set(key, problem);
        rest.delete(key);
      }
    }
    return dropped;
  }

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

/** Identifies a problem, to compare the problems before and after a change. */
function nameOf({ variable, remedy }: SettingsProblem): string {
  return `${variable}: ${remedy}`;
}

function withChanges(saved: ConsoleTexts, changes: ConsoleChanges): ConsoleTexts {
  const all = new Map(saved);
  for (const [key, text] of changes) {
    if (text === undefined) all.delete(key);
    else all.set(key, text);
  }
  return all;
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
