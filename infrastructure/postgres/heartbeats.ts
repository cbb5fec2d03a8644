import type pg from 'pg';
import { createMutex } from '../../application/concurrency/mutex.ts';

/** Sends one statement. */
export type Runner = (query: pg.QueryConfig) => Promise<pg.QueryResult>;

/**
 * Sends a statement at three times the rate that keeps the server from aborting an idle transaction. A connection runs
 * one statement at a time, so statements and heartbeats wait for each other.
 */
export function startHeartbeats(
  client: pg.ClientBase,
  idleTimeoutMs: number,
): { readonly runner: Runner; readonly stop: () => void } {
  const mutex = createMutex();
  const runner: Runner = (query) => mutex.run(() => client.query(query));
  const beat = (): void => {
    // The next statement of the work reports a lost connection.
    if (mutex.count() === 0) runner({ text: 'select 1' }).catch(() => undefined);
  };
  const timer = idleTimeoutMs > 0 ? setInterval(beat, idleTimeoutMs / 3).unref() : undefined;
  return {
    runner,
    stop() {
      clearInterval(timer);
    },
  };
}
