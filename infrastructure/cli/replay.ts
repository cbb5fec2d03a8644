import { parseArgs } from 'node:util';
import { openCommands } from '../composition/commands.ts';
import { commandSettings } from './command-settings.ts';
import { progressBar } from './progress.ts';

/** `palimpsest replay --to <DATABASE_URL>` (decisions D, Replay): a JSON line a table on stdout, progress on stderr. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { to: { type: 'string' }, until: { type: 'string' }, tenant: { type: 'string' } } });
  const { to, until, tenant } = values;
  if (to === undefined) {
    process.stderr.write('usage: palimpsest replay --to <DATABASE_URL> [--until <time|position>] [--tenant <slug>]\n');
    return 2;
  }
  const commands = await openCommands(await commandSettings());
  const bar = progressBar({ label: 'Replaying', unit: 'positions', total: 0 });
  try {
    const lines = await commands.replay({
      to,
      ...(until === undefined ? {} : { until }),
      ...(tenant === undefined ? {} : { tenant }),
      onProgress: ({ position, target }) => {
        bar.update(Number(position), Number(target));
      },
    });
    bar.finish();
    for (const line of lines) process.stdout.write(`${JSON.stringify(line)}\n`);
    return 0;
  } finally {
    await commands.close();
  }
}
