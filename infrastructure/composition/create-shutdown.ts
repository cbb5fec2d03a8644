import { withDeadline } from '../../application/concurrency/with-deadline.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { reasonOf } from '../../application/ports/transient-errors.ts';

/** Closes what the process opened, in reverse order of opening. */
export type Shutdown = {
  /** Aborted when the shutdown begins. */
  readonly signal: AbortSignal;
  /** Aborts `signal` without closing anything: a start that is still running ends at its next step. */
  begin(): void;
  /** Registers a function that closes one part; the part registered last is closed first. */
  add(close: () => Promise<void> | void): void;
  /**
   * Registers a worker that may still be starting: it is stopped once it has started. A failed start is logged as an
   * error.
   */
  addStarting(name: string, starting: Promise<{ stop(): Promise<void> }>): void;
  /** Closes everything; resolves after 25 seconds even if a part has not closed. Safe to call again. */
  closeAll(): Promise<void>;
};

/** After this time the process may end: acknowledged data is already durable. */
const STOP_DEADLINE_MS = 25_000;

export function createShutdown({ logger }: { readonly logger: Logger }): Shutdown {
  const parts: (() => Promise<void> | void)[] = [];
  const begun = new AbortController();
  let closing: Promise<void> | undefined;

  async function closeParts(): Promise<void> {
    for (const close of parts) {
      try {
        await close();
      } catch (error) {
        logger.warn('a part of the service failed to close', { reason: reasonOf(error) });
      }
    }
  }

  async function closeAll(): Promise<void> {
    begun.abort();
    await withDeadline(closeParts(), STOP_DEADLINE_MS, () => undefined);
  }

  return {
    signal: begun.signal,
    begin() {
      begun.abort();
    },
    add(close) {
      parts.unshift(close);
    },
    addStarting(name, starting) {
      const started = starting.catch((error: unknown) => {
        if (!begun.signal.aborted) logger.error('a worker failed to start', { worker: name, reason: reasonOf(error) });
        return undefined;
      });
      parts.unshift(async () => (await started)?.stop());
    },
    closeAll: () => (closing ??= closeAll()),
  };
}
