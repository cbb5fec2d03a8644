import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { openLogger } from '../composition/platform/open-logger.ts';
import { startService } from '../composition/start-service.ts';
import { startSetupMode } from '../composition/start-setup-mode.ts';
import { loadSettings, problemsOf } from '../configuration/load-settings.ts';
import { readSettings } from '../configuration/read-settings.ts';
import { type StartLayers, startLayers } from '../configuration/start-layers.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../postgres/embedded/embedded-postgres.ts';
import { openTracing } from '../tracing/open-tracing.ts';
import { lockDataDirectory } from './data-directory-lock.ts';
import { EMBEDDED_DATABASE, embeddedDirectory } from './embedded.ts';
import { logIgnoredSettings } from './log-ignored-settings.ts';
import { stopOnSignal } from './stop-on-signal.ts';

/**
 * `palimpsest serve`: starts the service with the settings of environment and file.
 * @throws SettingsError when a startup check fails
 */
export async function run(): Promise<undefined> {
  const start = startLayers(process.env);
  if (readSettings(start.layers).settings.setupMode) return runSetupMode(start);
  const { settings, ignored } = loadSettings(start.layers, start.problems);
  const logger = openLogger(settings, { descriptor: 1 });
  logIgnoredSettings({ ignored, file: start.file }, logger);
  const embedded = settings.databaseUrl === 'embedded' ? await startDatabase(resolve(settings.dataDir)) : undefined;
  const databaseUrl = embedded?.url(EMBEDDED_DATABASE) ?? settings.databaseUrl;
  try {
    const service = await startService({
      settings: { ...settings, databaseUrl },
      layers: start.layers,
      declaredTypes: start.file.schemas,
      logger,
      traces: await openTracing(process.env, { logger }),
      onFatal: (error) => {
        logger.error('the process exits and must be restarted', { reason: error.message });
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

async function startDatabase(dataDirectory: string): Promise<EmbeddedPostgres> {
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  await lockDataDirectory(dataDirectory);
  return startEmbeddedPostgres({ directory: embeddedDirectory(dataDirectory) });
}

/** `SVC_SETUP_MODE`: serves probes and setup routes without a database and secrets. */
async function runSetupMode({ layers, problems, file }: StartLayers): Promise<undefined> {
  const read = readSettings(layers);
  const { settings, ignored } = read;
  const logger = openLogger(settings, { descriptor: 1 });
  logIgnoredSettings({ ignored, file }, logger);
  const missing = [...new Set([...problems, ...problemsOf(read)].map(({ variable }) => variable))];
  const service = await startSetupMode({ settings, missing, logger });
  stopOnSignal(service, () => {
    logger.flush();
    return Promise.resolve();
  });
  return undefined;
}
