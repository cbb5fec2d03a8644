import { setTimeout as pause } from 'node:timers/promises';
import { withDeadline } from '../../application/concurrency/with-deadline.ts';
import { codeOf } from '../../domain/code-of.ts';
import { refusal } from '../../domain/errors.ts';
import type { Database, Transaction } from './database.ts';
import type { TransactionOptions } from './statement-limits.ts';

export type AdvisoryLock = {
  /** Number of the lock, the same for every process of the installation. */
  readonly id: string;
  /** Maximum wait in milliseconds, in this process and for other processes. Default 30,000. */
  readonly waitMs?: number | undefined;
} & Pick<TransactionOptions, 'synchronousCommit'>;

/** How long one attempt holds a connection that waits for the lock. */
const ATTEMPT_MS = 200;
const MAX_PAUSE_MS = 500;
/** SQLSTATE of a lock that was not available in time. */
const NOT_AVAILABLE = '55P03';

const queues = new WeakMap<Database['pool'], Map<string, Promise<unknown>>>();

/**
 * Runs work in an outer transaction that holds an advisory lock, which the server releases when the process dies or is
 * suspended. Work of this process with the same lock runs in order of arrival and needs no connection while it
 * waits. The first of it competes with other processes; between its attempts it holds no connection, so that work with
 * other locks can run.
 * @throws `unavailable` when the lock is not free in time
 */
export async function underAdvisoryLock<T>(
  { id, waitMs = 30_000, synchronousCommit }: AdvisoryLock,
  work: (tx: Transaction) => Promise<T>,
  { database }: { readonly database: Pick<Database, 'outerTransaction' | 'pool'> },
): Promise<T> {
  const queue = queueOf(database);
  const before = queue.get(id) ?? Promise.resolve();
  const done = new AbortController();
  const mine = new Promise<void>((resolve) => {
    done.signal.addEventListener('abort', () => {
      resolve();
    });
  });
  const last = before.then(() => mine);
  queue.set(id, last);
  const deadline = performance.now() + waitMs;
  try {
    await withDeadline(before, waitMs, refuseBusy);
    for (let attempt = 0; ; attempt += 1) {
      const progress = { taken: false };
      try {
        return await database.outerTransaction(
          async (tx) => {
            await take(tx, id);
            progress.taken = true;
            return work(tx);
          },
          synchronousCommit === undefined ? {} : { synchronousCommit },
        );
      } catch (error) {
        if (progress.taken || codeOf(error) !== NOT_AVAILABLE) throw error;
      }
      if (performance.now() >= deadline) refuseBusy();
      await pause(Math.min(20 * 2 ** attempt, MAX_PAUSE_MS) * (0.5 + Math.random() / 2));
    }
  } finally {
    done.abort();
    if (queue.get(id) === last) queue.delete(id);
  }
}

function queueOf({ pool }: Pick<Database, 'pool'>): Map<string, Promise<unknown>> {
  let queue = queues.get(pool);
  if (!queue) queues.set(pool, (queue = new Map<string, Promise<unknown>>()));
  return queue;
}

/**
 * Waits on the server for a short time, where waiting processes have an order.
 * @throws the driver's error, which aborts the transaction, when another process keeps the lock
 */
async function take(tx: Transaction, id: string): Promise<void> {
  const [found] = await tx.query<{ before: string }>(
    `select current_setting('lock_timeout') as before, set_config('lock_timeout', $1, true)`,
    [String(ATTEMPT_MS)],
  );
  await tx.query(`select pg_advisory_xact_lock($1), set_config('lock_timeout', $2, true)`, [id, found?.before]);
}

function refuseBusy(): never {
  throw refusal('unavailable', { headers: { 'Retry-After': '2' } });
}
