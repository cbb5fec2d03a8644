import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { startService } from '../composition/service.ts';
import { loadSettings } from '../configuration/load-settings.ts';
import { environmentLayer } from '../configuration/read-settings.ts';
import { createLogger } from '../logging/create-logger.ts';
import { startEmbeddedPostgres } from '../postgres/embedded/embedded-postgres.ts';
import { embeddedDirectory, EMBEDDED_DATABASE } from './embedded.ts';
import { stopOnSignal } from './until-signal.ts';

/** `palimpsest serve`: exactly what the environment says, with every startup refusal of spec 1. */
export async function run(): Promise<undefined> {
  const { settings } = loadSettings([environmentLayer(process.env)]);
  const logger = createLogger({ level: settings.logLevel, format: settings.logFormat ?? (settings.appEnv === 'production' ? 'json' : 'pretty'), descriptor: 1 });
  const embedded = settings.databaseUrl === 'embedded' ? await startEmbeddedPostgres({ directory: embeddedDirectory(settings.dataDir) }) : undefined;
  if (embedded) mkdirSync(resolve(settings.dataDir), { recursive: true });
  const databaseUrl = embedded?.url(EMBEDDED_DATABASE) ?? settings.databaseUrl;
  try {
    const service = await startService({
      settings: { ...settings, databaseUrl },
      logger,
      onFatal: (error) => {
        logger.error('the process must be started anew', { reason: error.message });
        logger.flush();
        process.exit(1);
      },
    });
    stopOnSignal(service, async () => {
      await embedded?.stop();
      logger.flush();
    });
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
  return undefined;
}
