import { statSync } from 'node:fs';
import { type ReadSettings, type SettingsLayer, type SettingsProblem, readSettings } from './read-settings.ts';
import type { Settings } from './settings/index.ts';
import { startupRefusals } from './startup-refusals.ts';

/** The settings prevent the start. The message names every variable and what to do about it, and contains no value. */
export class SettingsError extends Error {
  readonly problems: readonly SettingsProblem[];

  constructor(problems: readonly SettingsProblem[]) {
    super(
      ['the settings are invalid:', ...problems.map(({ variable, remedy }) => `  ${variable}: ${remedy}`)].join('\n'),
    );
    this.name = 'SettingsError';
    this.problems = problems;
  }
}

/**
 * Reads the settings and checks them. `before`: problems found while reading the layers.
 * @throws SettingsError with all problems
 */
export function loadSettings(layers: readonly SettingsLayer[], before: readonly SettingsProblem[] = []): ReadSettings {
  const read = readSettings(layers);
  const problems = [...before, ...problemsOf(read)];
  if (problems.length > 0) throw new SettingsError(problems);
  return read;
}

/** Every problem that prevents a start with these settings; each variable once. */
export function problemsOf(read: ReadSettings): readonly SettingsProblem[] {
  const variables = new Set(read.problems.map(({ variable }) => variable));
  return [...read.problems, ...refusalsOf(read.settings).filter(({ variable }) => !variables.has(variable))];
}

/** The startup checks that these settings fail on this machine. */
export function refusalsOf(settings: Settings): readonly SettingsProblem[] {
  return startupRefusals(settings, { signingKeyMode: modeOf(settings.jwtKeyPath ?? DEFAULT_JWT_KEY_PATH) });
}

/** File of the signing keys when `JWT_KEY_PATH` is unset. */
export const DEFAULT_JWT_KEY_PATH = '/var/lib/svc/jwt_key.json';

function modeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mode;
}
