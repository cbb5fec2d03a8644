import { parseArgs } from 'node:util';
import { createConfiguration } from '../configuration/configuration.ts';
import { problemsOf } from '../configuration/load-settings.ts';
import { readSettings } from '../configuration/read-settings.ts';
import { settingsSchema } from '../configuration/settings-schema.ts';
import { startLayers } from '../configuration/start-layers.ts';
import { quickstartDefaults } from './quickstart-defaults.ts';

export const usage = `usage: palimpsest config check|print|schema [--json] [--quickstart]

  check    every problem that would refuse the start of \`serve\`, at once; exits 1 when there is one
  print    every setting with its value and the layer it comes from, then the problems; secrets are masked
  schema   the JSON Schema of svc.yaml, for editors

  --json        for programs
  --quickstart  with the defaults of \`start\` below the file

What the console has saved is kept in the database and is not read here: GET /api/admin/config shows it.
`;

/** `palimpsest config` (spec 1, Configuration): the settings before a start. */
export function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: { json: { type: 'boolean', default: false }, quickstart: { type: 'boolean', default: false } } });
  const [action, ...more] = positionals;
  if (more.length > 0 || (action !== 'check' && action !== 'print' && action !== 'schema')) {
    process.stderr.write(usage);
    return Promise.resolve(2);
  }
  if (action === 'schema') {
    process.stdout.write(`${JSON.stringify(settingsSchema(), undefined, 2)}\n`);
    return Promise.resolve(0);
  }
  const start = startLayers(process.env, values.quickstart ? quickstartDefaults(process.env) : {});
  const problems = [...start.problems, ...problemsOf(readSettings(start.layers))];
  const settings = createConfiguration(start.layers).list(new Map());
  if (values.json) {
    const body = { ...(action === 'print' ? { settings } : {}), files: start.file.files, problems, unknown: start.file.unknown };
    process.stdout.write(`${JSON.stringify(body, undefined, 2)}\n`);
  } else {
    for (const file of start.file.files) process.stdout.write(`# ${file}\n`);
    if (action === 'print') {
      const width = Math.max(...settings.map(({ key }) => key.length));
      for (const { key, value, source } of settings) process.stdout.write(`${key.padEnd(width)}  ${source.padEnd(11)}  ${value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value)}\n`);
    }
    for (const unknown of start.file.unknown) process.stderr.write(`not used: ${unknown}\n`);
    for (const { variable, remedy } of problems) process.stderr.write(`${variable}: ${remedy}\n`);
    if (action === 'check' && problems.length === 0) process.stdout.write('The settings are fine.\n');
  }
  return Promise.resolve(problems.length > 0 ? 1 : 0);
}
