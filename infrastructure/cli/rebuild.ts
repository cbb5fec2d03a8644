import { parseArgs } from 'node:util';
import { openCommands } from '../composition/commands/open-commands.ts';
import { commandSettings } from './command-settings.ts';
import { printJson } from './print-json.ts';
import { createProgress } from './progress.ts';
import { createUnappliedStreams } from './unapplied-streams.ts';

/**
 * `palimpsest rebuild <projection|all>`: prints one JSON line for each table on stdout and the progress on stderr.
 * @returns 1 when an event could not be applied, 2 for wrong arguments
 */
export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { force: { type: 'boolean', default: false } },
  });
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) {
    process.stderr.write('usage: palimpsest rebuild <projection|all> [--force]\n');
    return 2;
  }
  const commands = await openCommands(await commandSettings());
  const progress = createProgress();
  const unapplied = createUnappliedStreams();
  try {
    const lines = await commands.rebuild(name, {
      force: values.force,
      onUnapplied: unapplied.add,
      onProgress: ({ projection, position, target }) => {
        progress.update({ label: `Rebuilding ${projection}`, unit: 'positions' }, Number(position), Number(target));
      },
    });
    progress.finish();
    printJson(...lines);
    return unapplied.report();
  } finally {
    await commands.close();
  }
}
