import { statSync } from 'node:fs';
import type { ReadSettings, SettingsLayer, SettingsProblem } from './read-settings.ts';
import { readSettings } from './read-settings.ts';
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
 * Reads the settings and applies every startup refusal (spec 1, Configuration).
 * @throws SettingsError with all problems at once
 */
export function loadSettings(layers: readonly SettingsLayer[]): ReadSettings {
  const read = readSettings(layers);
  const refused = startupRefusals(read.settings, { signingKeyMode: modeOf(read.settings.jwtKeyPath ?? DEFAULT_JWT_KEY_PATH) });
  const named = new Set(read.problems.map(({ variable }) => variable));
  const problems = [...read.problems, ...refused.filter(({ variable }) => !named.has(variable))];
  if (problems.length > 0) throw new SettingsError(problems);
  return read;
}

/** Where the signing key is kept when `JWT_KEY_PATH` is unset. */
export const DEFAULT_JWT_KEY_PATH = '/var/lib/svc/jwt_key.json';

function modeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mode;
}
