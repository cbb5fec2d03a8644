import type { Module } from './module.ts';
import type { Platform } from './platform/platform.ts';
import { startScheduler } from './start-scheduler.ts';

/**
 * Starts the background roles `relay`, `worker` and `scheduler` of this process; the platform has started the role
 * `projector`. A worker may still be starting when this returns; the shutdown waits for it and stops it.
 */
export function startRoles(platform: Platform, { all }: { readonly all: readonly Module[] }): void {
  const { roles, shutdown, logger } = platform;
  for (const worker of all.flatMap(({ workers }) => workers))
    if (roles.has(worker.role)) shutdown.addStarting(worker.name, worker.start());
  if (roles.has('scheduler')) {
    const scheduler = startScheduler({ sweeps: all.flatMap(({ sweeps }) => sweeps), logger });
    shutdown.add(() => scheduler.stop());
  }
}
