import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { startService } from '../composition/service.ts';
import { startSetupMode } from '../composition/setup-mode.ts';
import { loadSettings, problemsOf } from '../configuration/load-settings.ts';
import { readSettings } from '../configuration/read-settings.ts';
import type { StartLayers } from '../configuration/start-layers.ts';
import { startLayers } from '../configuration/start-layers.ts';
import { createLogger } from '../logging/create-logger.ts';
import type { EmbeddedPostgres } from '../postgres/embedded/embedded-postgres.ts';
import { openTracing } from '../tracing/open-tracing.ts';
import { startEmbeddedPostgres } from '../postgres/embedded/embedded-postgres.ts';
import { lockDataDirectory } from './data-directory-lock.ts';
import { embeddedDirectory, EMBEDDED_DATABASE } from './embedded.ts';
import { stopOnSignal } from './until-signal.ts';

/** `palimpsest serve`: exactly what the environment says, with every startup refusal of spec 1. */
export async function run(): Promise<undefined> {
  const start = startLayers(process.env);
  if (readSettings(start.layers).settings.setupMode) return runSetupMode(start);
  const { settings } = loadSettings(start.layers, start.problems);
  const logger = createLogger({ level: settings.logLevel, format: settings.logFormat ?? (settings.appEnv === 'production' ? 'json' : 'pretty'), descriptor: 1 });
  for (const unknown of start.file.unknown) logger.warn('not used', { setting: unknown });
  const embedded = settings.databaseUrl === 'embedded' ? await startDatabase(resolve(settings.dataDir)) : undefined;
  const databaseUrl = embedded?.url(EMBEDDED_DATABASE) ?? settings.databaseUrl;
  try {
    const service = await startService({
      settings: { ...settings, databaseUrl },
      layers: start.layers,
      declaredTypes: start.file.schemas,
      logger,
      traces: await openTracing(process.env, logger),
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

async function startDatabase(dataDirectory: string): Promise<EmbeddedPostgres> {
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  await lockDataDirectory(dataDirectory);
  return startEmbeddedPostgres({ directory: embeddedDirectory(dataDirectory) });
}

/** Without database and secrets: probes and setup routes (spec 1, `SVC_SETUP_MODE`). */
async function runSetupMode({ layers, problems }: StartLayers): Promise<undefined> {
  const read = readSettings(layers);
  const { settings } = read;
  const logger = createLogger({ level: settings.logLevel, format: settings.logFormat ?? (settings.appEnv === 'production' ? 'json' : 'pretty'), descriptor: 1 });
  const missing = [...new Set([...problems, ...problemsOf(read)].map(({ variable }) => variable))];
  const service = await startSetupMode({ settings, missing, logger });
  stopOnSignal(service, () => {
    logger.flush();
    return Promise.resolve();
  });
  return undefined;
}
