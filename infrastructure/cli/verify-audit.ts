import { parseArgs } from 'node:util';
import { openCommands } from '../composition/commands.ts';
import { commandSettings } from './command-settings.ts';
import type { ProgressBar } from './progress.ts';
import { progressBar } from './progress.ts';

/** `palimpsest verify-audit` (spec 5, rule 12): a JSON line a tenant on stdout, progress on stderr; exit code 1 when something was altered. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { tenant: { type: 'string' } } });
  const commands = await openCommands(await commandSettings());
  let bar: { readonly of: string; readonly bar: ProgressBar } | undefined;
  try {
    const verdicts = await commands.verifyAudit({
      ...(values.tenant === undefined ? {} : { tenant: values.tenant }),
      onProgress: ({ tenant, checked, total }) => {
        if (bar?.of !== tenant) {
          bar?.bar.finish();
          bar = { of: tenant, bar: progressBar({ label: `Verifying ${tenant}`, unit: 'events', total }) };
        }
        bar.bar.update(checked, total);
      },
    });
    bar?.bar.finish();
    for (const verdict of verdicts) process.stdout.write(`${JSON.stringify(verdict)}\n`);
    return verdicts.every(({ ok }) => ok) ? 0 : 1;
  } finally {
    await commands.close();
  }
}
