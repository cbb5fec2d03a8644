import type { Logger } from '../../application/ports/logger.ts';
import { composeModules } from './compose-modules.ts';
import { createShutdown } from './create-shutdown.ts';
import { type Listening, listen } from './listen.ts';
import { type PlatformOptions, openPlatform } from './open-platform.ts';
import { createProcessLogger } from './platform/create-process-logger.ts';
import { startRoles } from './start-roles.ts';

export type StartServiceOptions = PlatformOptions & {
  /** Definitions of content types that are created or updated before the listeners open. Default: none. */
  readonly declaredTypes?: readonly unknown[];
  /** Default: a logger on standard error with `LOG_LEVEL` and `LOG_FORMAT`. */
  readonly logger?: Logger;
  /** Ends a start that is still running at its next step; `startService` throws then. Later it has no effect. */
  readonly stop?: AbortSignal;
};

export type Service = Listening & {
  /**
   * Closes the listeners, finishes requests in flight and batches, saves checkpoints and releases leases, in reverse
   * order of opening. Resolves when nothing runs any more, after 25 seconds at the latest. Safe to call twice.
   */
  stop(): Promise<void>;
};

/**
 * Starts the roles that the settings name, in one process.
 * @throws when the database, the event store or an address is unavailable, or when `stop` aborts; everything opened
 * before is closed then
 */
export async function startService(options: StartServiceOptions): Promise<Service> {
  const logger = options.logger ?? createProcessLogger({ settings: options.settings });
  const shutdown = createShutdown({ logger });
  const { stop } = options;
  const begin = (): void => {
    shutdown.begin();
  };
  stop?.addEventListener('abort', begin, { once: true });
  try {
    stop?.throwIfAborted();
    const platform = await openPlatform({ ...options, logger, shutdown });
    const modules = await composeModules(platform);
    startRoles(platform, modules);
    await modules.content.applyDeclaredTypes(options.declaredTypes ?? []);
    const listening = await listen(platform, modules);
    return { ...listening, stop: () => shutdown.closeAll() };
  } catch (error) {
    await shutdown.closeAll();
    throw error;
  } finally {
    stop?.removeEventListener('abort', begin);
  }
}
