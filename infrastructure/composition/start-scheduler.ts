import { setMaxListeners } from 'node:events';
import { stoppablePause } from '../../application/concurrency/stoppable-pause.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { reasonOf } from '../../application/ports/transient-errors.ts';
import type { RunningWorker, Sweep } from './module.ts';

/**
 * Repeats each sweep with its own pause, until stopped. A sweep that fails is logged and runs again after the pause.
 * `stop` resolves when no sweep runs any more.
 */
export function startScheduler({
  sweeps,
  logger,
}: {
  readonly sweeps: readonly Sweep[];
  readonly logger: Logger;
}): RunningWorker {
  const stopping = new AbortController();
  // Every sweep waits for this signal; Node warns about more than ten listeners.
  setMaxListeners(0, stopping.signal);
  const pause = stoppablePause(stopping.signal);
  const running = sweeps.map(repeat);

  async function repeat({ name, everyMs, run }: Sweep): Promise<void> {
    while (await pause(everyMs)) {
      try {
        const done = await run(stopping.signal);
        if (done > 0) logger.info('a sweep was run', { sweep: name, done });
      } catch (error) {
        logger.warn('a sweep failed', { sweep: name, reason: reasonOf(error) });
      }
    }
  }

  return {
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}
