import type { Closers } from '../composition/open-parts.ts';
import { type Service, startService } from '../composition/start-service.ts';
import type { ReadSettings } from '../configuration/read-settings.ts';
import type { StartLayers } from '../configuration/start-layers.ts';
import type { ProcessLogger } from '../logging/create-logger.ts';
import type { EmbeddedPostgres } from '../postgres/embedded/embedded-postgres.ts';
import { openTracing } from '../tracing/open-tracing.ts';
import { EMBEDDED_DATABASE } from './embedded.ts';
import { logFaults } from './log-faults.ts';
import { logIgnoredSettings } from './log-ignored-settings.ts';
import type { RunContext } from './run-until-stopped.ts';

export type OpenServiceInput = {
  readonly start: StartLayers;
  readonly read: ReadSettings;
  readonly logger: ProcessLogger;
  /** Starts the embedded database, when the settings ask for it. */
  readonly startDatabase: () => Promise<Pick<EmbeddedPostgres, 'serviceUrl' | 'stop'>>;
};

/** Starts the service of this process, and its database if it is embedded. Registers how to close what is open. */
export async function openService(
  { start, read: { settings, ignored }, logger, startDatabase }: OpenServiceInput,
  closers: Closers,
  { stop, faults }: RunContext,
): Promise<Service> {
  closers.add(() => {
    logger.flush();
  });
  logIgnoredSettings({ ignored, file: start.file }, logger);
  logFaults(faults, logger);
  const embedded = settings.databaseUrl === 'embedded' ? await startDatabase() : undefined;
  if (embedded) closers.add(() => embedded.stop());
  stop.throwIfAborted();
  const service = await startService({
    settings: { ...settings, databaseUrl: (await embedded?.serviceUrl(EMBEDDED_DATABASE)) ?? settings.databaseUrl },
    layers: start.layers,
    declaredTypes: start.file.schemas,
    logger,
    traces: await openTracing({ environment: process.env, logger }),
    stop,
    onFatal: faults.raise,
  });
  closers.add(() => service.stop());
  faults.add(() => {
    service.failRequests();
  });
  return service;
}
