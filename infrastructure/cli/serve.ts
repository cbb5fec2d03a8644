import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Closers } from '../composition/open-parts.ts';
import { createProcessLogger } from '../composition/platform/create-process-logger.ts';
import { startSetupMode } from '../composition/start-setup-mode.ts';
import { loadSettings, problemsOf } from '../configuration/load-settings.ts';
import { readSettings } from '../configuration/read-settings.ts';
import { type StartLayers, startLayers } from '../configuration/start-layers.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../postgres/embedded/embedded-postgres.ts';
import { lockDataDirectory } from './data-directory-lock.ts';
import { embeddedDirectory } from './embedded.ts';
import { logFaults } from './log-faults.ts';
import { logIgnoredSettings } from './log-ignored-settings.ts';
import { openService } from './open-service.ts';
import { type RunContext, runUntilStopped } from './run-until-stopped.ts';

export const handlesStop = true;

/**
 * `palimpsest serve`: starts the service with the settings of environment and file, and runs it until `stop` aborts.
 * @throws SettingsError when a startup check fails
 */
export function run(_args: readonly string[], { stop }: { readonly stop: AbortSignal }): Promise<never> {
  const start = startLayers(process.env);
  return runUntilStopped(
    (closers, context) =>
      readSettings(start.layers).settings.setupMode
        ? startSetupModeProcess(start, closers, context)
        : startServiceProcess(start, closers, context),
    { stop },
  );
}

async function startServiceProcess(start: StartLayers, closers: Closers, context: RunContext): Promise<void> {
  const read = loadSettings(start.layers, start.problems);
  const { settings } = read;
  const logger = createProcessLogger({ settings, descriptor: 1 });
  const startDatabase = () => startEmbeddedDatabase(resolve(settings.dataDir));
  await openService({ start, read, logger, startDatabase }, closers, context);
}

async function startEmbeddedDatabase(dataDirectory: string): Promise<EmbeddedPostgres> {
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  await lockDataDirectory(dataDirectory);
  return startEmbeddedPostgres({ directory: embeddedDirectory(dataDirectory) });
}

/** `SVC_SETUP_MODE`: serves probes and setup routes without a database and secrets. */
async function startSetupModeProcess(
  { layers, problems, file }: StartLayers,
  closers: Closers,
  { faults }: RunContext,
): Promise<void> {
  const read = readSettings(layers);
  const { settings, ignored } = read;
  const logger = createProcessLogger({ settings, descriptor: 1 });
  closers.add(() => {
    logger.flush();
  });
  logIgnoredSettings({ ignored, file }, logger);
  logFaults(faults, logger);
  const missing = [...new Set([...problems, ...problemsOf(read)].map(({ variable }) => variable))];
  const service = await startSetupMode({ settings, missing, logger });
  closers.add(() => service.stop());
}
