import pg from 'pg';
import { createSharedRun } from '../../application/concurrency/shared-run.ts';
import { withDeadline } from '../../application/concurrency/with-deadline.ts';
import { openDatabase } from './database.ts';

/** Asks the server of a database whether it answers. */
export type DatabaseCheck = {
  /** Settles within 2 seconds and never rejects. Callers at the same time share one round trip. */
  isReachable(): Promise<boolean>;
  close(): Promise<void>;
};

const CONNECT_MS = 1_000;
/** A statement fails after one second more, so that a check takes at most 2 seconds. */
const STATEMENT_MS = 500;
/** SQLSTATE of a statement that the server itself ended after `STATEMENT_MS`: the server is slow, but it answers. */
const STATEMENT_TOO_LONG = '57014';
const LIMIT_MS = 2_000;
const HEARTBEAT_MS = 100;
/** A process whose own event loop was blocked for this long cannot tell whether the server was late. */
const STALL_MS = 500;

/**
 * Opens the check. It has a connection of its own that stays open: the result says nothing about how busy the pools
 * are, and a connection to a server that does not answer is replaced. While the process itself is suspended, the server
 * counts as reachable: the next check decides.
 */
export function openDatabaseCheck({ url }: { readonly url: string }): DatabaseCheck {
  const database = openDatabase({
    url,
    maxConnections: 1,
    idleTimeoutMs: 0,
    connectTimeoutMs: CONNECT_MS,
    statementTimeoutMs: STATEMENT_MS,
    applicationName: 'palimpsest check',
  });

  async function check(): Promise<boolean> {
    let beat = performance.now();
    let longestGap = 0;
    const heartbeat = setInterval(() => {
      const now = performance.now();
      longestGap = Math.max(longestGap, now - beat);
      beat = now;
    }, HEARTBEAT_MS);
    const answer = database.query('select 1').then(
      () => true,
      (error: unknown) => error instanceof pg.DatabaseError && error.code === STATEMENT_TOO_LONG,
    );
    const reachable = await withDeadline(answer, LIMIT_MS, () => false);
    clearInterval(heartbeat);
    return reachable || Math.max(longestGap, performance.now() - beat) > STALL_MS;
  }

  return {
    isReachable: createSharedRun(check).run,
    close: () => database.close(),
  };
}
