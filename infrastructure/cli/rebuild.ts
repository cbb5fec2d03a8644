import { parseArgs } from 'node:util';
import { openCommands } from '../composition/commands.ts';
import { commandSettings } from './command-settings.ts';
import type { ProgressBar } from './progress.ts';
import { progressBar } from './progress.ts';

/** `palimpsest rebuild <projection|all>` (decisions D, Replay): a JSON line a table on stdout, progress on stderr. */
export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: { force: { type: 'boolean', default: false } } });
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) {
    process.stderr.write('usage: palimpsest rebuild <projection|all> [--force]\n');
    return 2;
  }
  const commands = await openCommands(await commandSettings());
  let bar: { readonly of: string; readonly bar: ProgressBar } | undefined;
  try {
    const lines = await commands.rebuild(name, {
      force: values.force,
      onProgress: ({ projection, position, target }) => {
        if (bar?.of !== projection) {
          bar?.bar.finish();
          bar = { of: projection, bar: progressBar({ label: `Rebuilding ${projection}`, unit: 'positions', total: Number(target) }) };
        }
        bar.bar.update(Number(position), Number(target));
      },
    });
    bar?.bar.finish();
    for (const line of lines) process.stdout.write(`${JSON.stringify(line)}\n`);
    return 0;
  } finally {
    await commands.close();
  }
}
