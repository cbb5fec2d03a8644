import type { SettingsLayer, SettingsProblem } from './read-settings.ts';
import { environmentLayer } from './read-settings.ts';
import type { SettingsFile } from './settings-file.ts';
import { readSettingsFile } from './settings-file.ts';

/** The layers that a process starts with, the highest first. */
export type StartLayers = {
  readonly layers: readonly SettingsLayer[];
  /** Problems of the file; those of the values come with reading them. */
  readonly problems: readonly SettingsProblem[];
  readonly file: SettingsFile;
};

/** Environment, file, and what the caller puts in place of the built-in defaults (spec 1, Configuration). */
export function startLayers(environment: Readonly<Record<string, string | undefined>>, defaults: Readonly<Record<string, string>> = {}): StartLayers {
  const file = readSettingsFile({ environment: { ...defaults, ...environment } });
  const below: SettingsLayer = { name: 'default', get: (variable) => defaults[variable], overridable: () => true };
  return { layers: [environmentLayer(environment), file.layer, below], problems: file.problems, file };
}
