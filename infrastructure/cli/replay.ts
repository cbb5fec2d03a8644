import { parseArgs } from 'node:util';
import { openCommands } from '../composition/commands/open-commands.ts';
import { commandSettings } from './command-settings.ts';
import { printJson } from './print-json.ts';
import { createProgress } from './progress.ts';
import { createUnappliedStreams } from './unapplied-streams.ts';

/**
 * `palimpsest replay --to <DATABASE_URL>`: builds all read models in an empty database. Prints one JSON line for each
 * table on stdout and the progress on stderr.
 * @returns 1 when an event could not be applied, 2 for wrong arguments
 */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { to: { type: 'string' }, until: { type: 'string' }, tenant: { type: 'string' } },
  });
  const { to, until, tenant } = values;
  if (to === undefined) {
    process.stderr.write('usage: palimpsest replay --to <DATABASE_URL> [--until <time|position>] [--tenant <slug>]\n');
    return 2;
  }
  const commands = await openCommands(await commandSettings());
  const progress = createProgress();
  const unapplied = createUnappliedStreams();
  try {
    const lines = await commands.replay({
      to,
      ...(until === undefined ? {} : { until }),
      ...(tenant === undefined ? {} : { tenant }),
      onUnapplied: unapplied.add,
      onProgress: ({ position, target }) => {
        progress.update({ label: 'Replaying', unit: 'positions' }, Number(position), Number(target));
      },
    });
    progress.finish();
    printJson(...lines);
    return unapplied.report();
  } finally {
    await commands.close();
  }
}
