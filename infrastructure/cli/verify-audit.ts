import { parseArgs } from 'node:util';
import { openCommands } from '../composition/commands/open-commands.ts';
import { commandSettings } from './command-settings.ts';
import { printJson } from './print-json.ts';
import { createProgress } from './progress.ts';

/**
 * `palimpsest verify-audit`: verifies the log against its audit chain, and with `--anchors` against copies of
 * signatures that were kept outside the database. Prints one JSON line for each tenant on stdout and the progress on
 * stderr. `--restart` starts the chains again before.
 * @returns 1 when the log of a tenant differs from its chain or from the copies
 * @throws Error when the named tenant has no events, so that a misspelt name does not count as verified
 */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { tenant: { type: 'string' }, anchors: { type: 'string' }, restart: { type: 'boolean' } },
  });
  const commands = await openCommands(await commandSettings());
  const progress = createProgress();
  try {
    if (values.restart === true) await commands.restartAudit();
    const verdicts = await commands.verifyAudit({
      ...(values.tenant === undefined ? {} : { tenant: values.tenant }),
      ...(values.anchors === undefined ? {} : { anchors: values.anchors }),
      onProgress: ({ tenant, checked, total }) => {
        progress.update({ label: `Verifying ${tenant}`, unit: 'events' }, checked, total);
      },
    });
    progress.finish();
    if (
      values.tenant !== undefined &&
      verdicts.every(({ ok, checked, anchors }) => ok && checked + (anchors?.checked ?? 0) === 0)
    )
      throw new Error(`the tenant ${values.tenant} has no events`);
    printJson(...verdicts);
    return verdicts.every(({ ok }) => ok) ? 0 : 1;
  } finally {
    await commands.close();
  }
}
