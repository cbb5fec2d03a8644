import type { Logger } from '../../application/ports/logger.ts';
import { readSettings } from '../configuration/read-settings.ts';
import type { Settings } from '../configuration/settings/index.ts';
import { startLayers } from '../configuration/start-layers.ts';
import { createLogger } from '../logging/create-logger.ts';
import { databaseUrlOf, quickstartSecrets } from './embedded.ts';
import { namesDatabase, quickstartDirectory } from './quickstart-defaults.ts';

/**
 * Settings and logger of a command that runs beside the service. The startup checks do not apply, because a command
 * serves no requests. Warnings and errors are logged to standard error; standard output is for results.
 * @throws Error when a setting does not parse or no database is found
 */
export async function commandSettings(): Promise<{ readonly settings: Settings; readonly logger: Logger }> {
  const { layers, problems: ofFile } = startLayers(process.env, secretsOfQuickstart());
  const read = readSettings(layers);
  const { settings, problems } = { ...read, problems: [...ofFile, ...read.problems] };
  if (problems.length > 0) throw new Error(problems.map(({ variable, remedy }) => `${variable}: ${remedy}`).join('\n'));
  const databaseUrl = await databaseUrlOf(settings);
  return { settings: { ...settings, databaseUrl }, logger: createLogger({ level: 'warn', format: 'pretty' }) };
}

/** Without `DATABASE_URL` the command works on the quickstart, with its secrets. */
function secretsOfQuickstart(): Readonly<Record<string, string>> {
  return namesDatabase(process.env) ? {} : quickstartSecrets(quickstartDirectory(process.env));
}
