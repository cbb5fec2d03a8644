import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../../application/ports/logger.ts';

/** What is to be closed, in the order of its opening. */
export type Closers = {
  /** What was opened last is closed first. */
  add(close: () => Promise<void> | void): void;
  /** The same for something that is still starting: stopped as soon as it has started. A failed start is logged as `failure`. */
  addStarting(starting: Promise<{ stop(): Promise<void> } | undefined>, failure: string): void;
  /** Closes everything; what does not close in time is left. Safe to call again. */
  closeAll(): Promise<void>;
};

/** All of it has this long; then the process may end all the same, for what is acknowledged is safe. */
const STOP_DEADLINE_MS = 25_000;

export function createClosers(logger: Logger): Closers {
  const closers: (() => Promise<void> | void)[] = [];
  let closing: Promise<void> | undefined;

  async function closeAll(): Promise<void> {
    const deadline = new AbortController();
    const all = (async () => {
      for (const close of closers) {
        try {
          await close();
        } catch (error) {
          logger.warn('a part did not close', { reason: String(error) });
        }
      }
    })();
    await Promise.race([all, pause(STOP_DEADLINE_MS, undefined, { signal: deadline.signal }).catch(() => undefined)]);
    deadline.abort();
  }

  return {
    add(close) {
      closers.unshift(close);
    },
    addStarting(starting, failure) {
      const started = starting.catch((error: unknown) => {
        if (!closing) logger.error(failure, { reason: String(error) });
        return undefined;
      });
      closers.unshift(async () => (await started)?.stop());
    },
    closeAll: () => (closing ??= closeAll()),
  };
}
