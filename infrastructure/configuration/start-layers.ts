import { ownValue } from '../../domain/own-value.ts';
import { type SettingsLayer, type SettingsProblem, environmentLayer } from './read-settings.ts';
import { type SettingsFile, readSettingsFile } from './settings-file.ts';

/** The layers that a process starts with, highest first. */
export type StartLayers = {
  readonly layers: readonly SettingsLayer[];
  /** Problems of the file itself; problems of values appear when they are read. */
  readonly problems: readonly SettingsProblem[];
  readonly file: SettingsFile;
};

/** Environment, settings file, and `defaults`, which replace the built-in defaults. */
export function startLayers(
  environment: Readonly<Record<string, string | undefined>>,
  defaults: Readonly<Record<string, string>> = {},
): StartLayers {
  const file = readSettingsFile({ environment: { ...defaults, ...environment } });
  const lowest: SettingsLayer = {
    name: 'default',
    get: (variable) => ownValue(defaults, variable),
    overridable: () => true,
  };
  return { layers: [environmentLayer(environment), file.layer, lowest], problems: file.problems, file };
}
