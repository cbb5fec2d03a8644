import { parseArgs } from 'node:util';
import type { Json } from '../../domain/json.ts';
import { createConfiguration } from '../configuration/configuration.ts';
import { durationText } from '../configuration/duration-text.ts';
import { problemsOf } from '../configuration/load-settings.ts';
import { readSettings } from '../configuration/read-settings.ts';
import { settingsSchema } from '../configuration/settings-schema.ts';
import { startLayers } from '../configuration/start-layers.ts';
import { newQuickstartSecrets, quickstartDefaults } from './quickstart-defaults.ts';

export const usage = `usage: palimpsest config check|print|schema [--json] [--quickstart]

  check    prints every problem that prevents the start of \`serve\`; exits 1 when there is one
  print    prints every setting with its value and its layer, then the problems; secrets are masked
  schema   prints the JSON Schema of svc.yaml, for editors

  --json        prints JSON
  --quickstart  uses the defaults of \`start\` instead of the built-in defaults

Settings saved in the console are in the database; this command does not read them. GET /api/admin/config shows them.
`;

/**
 * `palimpsest config`: checks or prints the settings without a start.
 * @returns 1 when there are problems, 2 for wrong arguments
 */
export function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { json: { type: 'boolean', default: false }, quickstart: { type: 'boolean', default: false } },
  });
  const [action, ...more] = positionals;
  if (more.length > 0 || (action !== 'check' && action !== 'print' && action !== 'schema')) {
    process.stderr.write(usage);
    return Promise.resolve(2);
  }
  if (action === 'schema') {
    process.stdout.write(`${JSON.stringify(settingsSchema(), undefined, 2)}\n`);
    return Promise.resolve(0);
  }
  // Before its first start the quickstart has no secrets. That start creates them, so their absence is no problem.
  const defaults = values.quickstart ? { ...newQuickstartSecrets(), ...quickstartDefaults(process.env) } : {};
  const start = startLayers(process.env, defaults);
  const read = readSettings(start.layers);
  const problems = [...start.problems, ...problemsOf(read)];
  const { ignored } = read;
  const configuration = createConfiguration({ layers: start.layers });
  const settings = configuration.list(new Map());
  if (values.json) {
    const body = {
      ...(action === 'print' ? { settings } : {}),
      files: start.file.files,
      problems,
      ignored,
      unknown: start.file.unknown,
    };
    process.stdout.write(`${JSON.stringify(body, undefined, 2)}\n`);
  } else {
    for (const file of start.file.files) process.stdout.write(`# ${file}\n`);
    if (action === 'print') {
      const width = Math.max(...settings.map(({ key }) => key.length));
      for (const { key, value, source } of settings)
        process.stdout.write(
          `${key.padEnd(width)}  ${source.padEnd(11)}  ${shownText(value, configuration.isDuration(key))}\n`,
        );
    }
    for (const unknown of start.file.unknown) process.stderr.write(`ignored: ${unknown}\n`);
    for (const { variable, remedy } of ignored) process.stderr.write(`ignored: ${variable}: ${remedy}\n`);
    for (const { variable, remedy } of problems) process.stderr.write(`${variable}: ${remedy}\n`);
    if (action === 'check' && problems.length === 0) process.stdout.write('The settings are valid.\n');
  }
  return Promise.resolve(problems.length > 0 ? 1 : 0);
}

function shownText(value: Json, isDuration: boolean): string {
  if (value === null) return '';
  if (isDuration && typeof value === 'number') return durationText(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}
