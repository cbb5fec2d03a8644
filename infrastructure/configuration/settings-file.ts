import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type FileValue, flattenYaml } from './flatten-yaml.ts';
import type { SettingsLayer, SettingsProblem } from './read-settings.ts';
import type { Setting } from './setting.ts';
import { SETTINGS } from './settings/index.ts';

/** The settings file, merged with the files that it includes. */
export type SettingsFile = {
  readonly layer: SettingsLayer;
  /** The files that were read, in the order of merging: later files win. */
  readonly files: readonly string[];
  /** Definitions of content types for the default tenant; of two with one name the later one counts. */
  readonly schemas: readonly unknown[];
  readonly problems: readonly SettingsProblem[];
  /** Names in the files that are not settings. They do not prevent the start. */
  readonly unknown: readonly string[];
};

export type SettingsFileOptions = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Default: the working directory. */
  readonly directory?: string;
  /** Default `/etc/svc`. */
  readonly systemDirectory?: string;
};

const NAMES = ['svc.yaml', 'svc.yml'];
const FRAGMENTS = 'conf.d';
const MAX_FILES = 100;
const SVC_CONFIG = 'SVC_CONFIG';

/**
 * Reads the file or directory of `SVC_CONFIG`, else `svc.yaml` in the working directory, else in `/etc/svc/`, else
 * `/etc/svc/conf.d/*.yaml`.
 */
export function readSettingsFile({
  environment,
  directory = '.',
  systemDirectory = '/etc/svc',
}: SettingsFileOptions): SettingsFile {
  const problems: SettingsProblem[] = [];
  const path = environment[SVC_CONFIG]?.trim();
  const roots =
    path === undefined || path === '' ? defaultFiles(directory, systemDirectory) : namedFiles(resolve(directory, path));
  if (roots === undefined)
    problems.push({ variable: SVC_CONFIG, remedy: 'it names a file or directory that does not exist' });

  const files: string[] = [];
  const values = new Map<string, FileValue>();
  const schemas = new Map<unknown, unknown>();
  const unknown: string[] = [];
  for (const root of roots ?? []) read(root, []);
  return {
    layer: {
      name: 'file',
      get: (variable) => values.get(variable)?.text.trim(),
      overridable: (variable) => values.get(variable)?.overridable === true,
    },
    files,
    schemas: [...schemas.values()],
    problems,
    unknown,
  };

  /** Merges a file after the files that it includes, so that its own values win. */
  function read(path: string, parents: readonly string[]): void {
    const refuse = (remedy: string) => problems.push({ variable: SVC_CONFIG, remedy });
    if (parents.includes(path)) return void refuse(`${path} includes itself`);
    if (files.length >= MAX_FILES) return void refuse(`more than ${String(MAX_FILES)} files are included`);
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch {
      return void refuse(`${path} cannot be read`);
    }
    const flat = flattenYaml(text, path, environment);
    for (const problem of flat.problems) refuse(problem);
    for (const include of flat.includes.map((name) => resolve(dirname(path), name)).toSorted())
      read(include, [...parents, path]);
    files.push(path);
    for (const { path: keys, ...value } of flat.values) {
      const variable = variableOf(keys);
      if (variable === undefined)
        unknown.push(`${value.file}, line ${String(value.line)}: ${keys.join('.')} is not a setting`);
      else values.set(variable, value);
    }
    for (const definition of flat.schemas) schemas.set(nameOf(definition) ?? definition, definition);
  }
}

const VARIABLES: ReadonlySet<string> = new Set(Object.values<Setting<unknown>>(SETTINGS).map(({ name }) => name));

/**
 * The variable of a path of keys: `database.url` is `DATABASE_URL`. Below `plugins.<feature>` the name may be complete
 * or leave out the feature.
 */
function variableOf(keys: readonly string[]): string | undefined {
  const candidates = keys[0] === 'plugins' ? [keys.slice(2), keys.slice(1)] : [keys];
  return candidates
    .map((path) => path.join('_').replaceAll('-', '_').toUpperCase())
    .find((name) => VARIABLES.has(name));
}

function defaultFiles(directory: string, systemDirectory: string): readonly string[] {
  for (const location of [directory, systemDirectory]) {
    const file = NAMES.map((name) => resolve(location, name)).find((path) => existsSync(path));
    if (file !== undefined) return [file, ...fragments(join(dirname(file), FRAGMENTS))];
  }
  return fragments(join(systemDirectory, FRAGMENTS));
}

/**
 * The files of `SVC_CONFIG`. A file: itself and the `conf.d` beside it. A directory: its `svc.yaml` and `conf.d`, else
 * every YAML file in it. Undefined when the path does not exist.
 */
function namedFiles(path: string): readonly string[] | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return undefined;
  if (!stat.isDirectory()) return [path, ...fragments(join(dirname(path), FRAGMENTS))];
  const file = NAMES.map((name) => join(path, name)).find((one) => existsSync(one));
  return file === undefined ? fragments(path) : [file, ...fragments(join(path, FRAGMENTS))];
}

function fragments(directory: string): readonly string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => /\.ya?ml$/.test(name))
    .toSorted()
    .map((name) => resolve(directory, name));
}

function nameOf(definition: unknown): unknown {
  return typeof definition === 'object' && definition !== null && 'name' in definition ? definition.name : undefined;
}
