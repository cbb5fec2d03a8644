import { parseArgs } from 'node:util';
import { openCommands } from '../composition/commands/open-commands.ts';
import { commandSettings } from './command-settings.ts';
import { printJson } from './print-json.ts';
import { createProgress } from './progress.ts';

/**
 * `palimpsest verify-audit`: verifies the log against its audit chain. Prints one JSON line for each tenant on stdout
 * and the progress on stderr.
 * @returns 1 when the log of a tenant differs from its chain
 */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { tenant: { type: 'string' } } });
  const commands = await openCommands(await commandSettings());
  const progress = createProgress();
  try {
    const verdicts = await commands.verifyAudit({
      ...(values.tenant === undefined ? {} : { tenant: values.tenant }),
      onProgress: ({ tenant, checked, total }) => {
        progress.update({ label: `Verifying ${tenant}`, unit: 'events' }, checked, total);
      },
    });
    progress.finish();
    printJson(...verdicts);
    return verdicts.every(({ ok }) => ok) ? 0 : 1;
  } finally {
    await commands.close();
  }
}
