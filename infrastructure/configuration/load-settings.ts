import { statSync } from 'node:fs';
import type { ReadSettings, SettingsLayer, SettingsProblem } from './read-settings.ts';
import { readSettings } from './read-settings.ts';
import type { Settings } from './settings/index.ts';
import { startupRefusals } from './startup-refusals.ts';

/** The start is refused; the message names every variable and what to do, and no value. */
export class SettingsError extends Error {
  readonly problems: readonly SettingsProblem[];

  constructor(problems: readonly SettingsProblem[]) {
    super(['the settings are refused:', ...problems.map(({ variable, remedy }) => `  ${variable}: ${remedy}`)].join('\n'));
    this.name = 'SettingsError';
    this.problems = problems;
  }
}

/**
 * Reads the settings and applies every startup refusal (spec 1, Configuration). `before`: problems that reading the layers met.
 * @throws SettingsError with all problems at once
 */
export function loadSettings(layers: readonly SettingsLayer[], before: readonly SettingsProblem[] = []): ReadSettings {
  const read = readSettings(layers);
  const problems = [...before, ...problemsOf(read)];
  if (problems.length > 0) throw new SettingsError(problems);
  return read;
}

/** Everything that stands in the way of a start with these settings, each variable once. */
export function problemsOf(read: ReadSettings): readonly SettingsProblem[] {
  const named = new Set(read.problems.map(({ variable }) => variable));
  return [...read.problems, ...refusalsOf(read.settings).filter(({ variable }) => !named.has(variable))];
}

/** The startup refusals of spec 1 that settings meet on this machine. */
export function refusalsOf(settings: Settings): readonly SettingsProblem[] {
  return startupRefusals(settings, { signingKeyMode: modeOf(settings.jwtKeyPath ?? DEFAULT_JWT_KEY_PATH) });
}

/** Where the signing key is kept when `JWT_KEY_PATH` is unset. */
export const DEFAULT_JWT_KEY_PATH = '/var/lib/svc/jwt_key.json';

function modeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mode;
}
