import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { AppendResult } from '../../../application/ports/event-store.ts';
import { refusal } from '../../../domain/errors.ts';
import type { Database } from '../../postgres/database.ts';
import type { EncodedAppend } from '../encode-append.ts';
import { type QueueEntry, createAppendQueue } from './append-queue.ts';
import { APPEND, type Batch, type BatchRow, type Outcome, batchOf, outcomesOf, parametersOf } from './batch.ts';
import { isRolledBack, mayRetry, refusalOf } from './failures.ts';
import { createWriterConnection } from './writer-connection.ts';

/** A queue of at least twice this many appends is sent in two halves. */
const MIN_HALF = 16;
/** After this time without a response the outcome of a call is unknown. Longer than the server's own limit. */
const CALL_TIMEOUT_MS = 15_000;

export type WriterOptions = {
  readonly database: Pick<Database, 'connect'>;
  /** Called after each batch that wrote events, once its writers have their results. */
  readonly onWritten: (batch: Batch, outcomes: readonly Outcome[], row: BatchRow) => void;
  /** Called when a batch may or may not have been written, so that the log is read. */
  readonly onUnknown: () => void;
  readonly onError: (error: unknown) => void;
};

export type WriterStats = {
  readonly batches: number;
  readonly largestBatch: number;
  readonly connections: number;
  readonly queued: number;
};

/** The single writing connection of a process and its queue. */
export type Writer = {
  /** Queues one append, or several that are written all or none (`atomic`). */
  write(
    appends: readonly EncodedAppend[],
    options: { readonly atomic: boolean; readonly signal?: AbortSignal | undefined },
  ): Promise<readonly AppendResult[]>;
  stats(): WriterStats;
  /** Backend process id of the connection, to recognise this process's own notifications. */
  backend(): number | undefined;
  /** Writes the queued appends, then closes the connection. */
  close(): Promise<void>;
};

/** A batch whose results are known and not yet passed to its writers. */
type Settle = { readonly size: number; answer(): void };

/**
 * Opens the writer; it connects on the first append. Group commit: the appends queued while a batch is in flight form
 * the next batch.
 */
export function openWriter({ database, onWritten, onUnknown, onError }: WriterOptions): Writer {
  const queue = createAppendQueue();
  const connection = createWriterConnection({ database, onError });
  let running: Promise<void> | undefined;
  let closed = false;
  let batches = 0;
  let largestBatch = 0;

  return {
    write(appends, { atomic, signal }) {
      return new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        if (closed) throw refusal('store_unavailable', { message: 'the event store is closed' });
        queue.add({ appends, atomic, signal, resolve, reject });
        running ??= run();
      });
    },
    stats: () => ({ batches, largestBatch, connections: connection.opened(), queued: queue.length() }),
    backend: () => connection.backend(),
    async close() {
      closed = true;
      while (running) await running;
      await connection.close();
    },
  };

  /**
   * While the database processes one batch, the writers of the previous batch get their results and queue their next
   * appends. With many writers two halves alternate, and neither side waits for the other.
   */
  async function run(): Promise<void> {
    let settle: Settle | undefined;
    try {
      for (;;) {
        if (settle === undefined || queue.length() * 2 < settle.size || !connection.current()) {
          settle?.answer();
          settle = undefined;
          // One turn of the event loop, so that writers that just got results can queue again.
          await nextTurn();
        }
        if (queue.length() === 0) return;
        const client = connection.current() ?? (await connected());
        const waiting = queue.length();
        const entries = queue.take(
          settle === undefined && waiting >= 2 * MIN_HALF ? Math.ceil(waiting / 2) : undefined,
        );
        const sent = entries.length === 0 ? undefined : send(client, entries);
        settle?.answer();
        settle = await sent;
      }
    } catch (error) {
      // `connected` gave up and refused all queued appends.
      onError(error);
    } finally {
      // Appends may have been queued while `connected` gave up.
      running = queue.length() > 0 ? run() : undefined;
    }
  }

  /** Sends a batch. @returns a function that passes the results to its writers */
  async function send(client: pg.Client, entries: readonly QueueEntry[]): Promise<Settle> {
    const batch = batchOf(
      entries.flatMap(({ appends }) => appends),
      entries[0]?.atomic,
    );
    batches += 1;
    largestBatch = Math.max(largestBatch, batch.appends.length);
    try {
      const row = await call(client, batch);
      const outcomes = outcomesOf(batch, row);
      return {
        size: entries.length,
        answer() {
          answer(entries, batch, outcomes);
          if (outcomes.some(({ result }) => result?.duplicate === false)) onWritten(batch, outcomes, row);
        },
      };
    } catch (error) {
      await failed(client, entries, error);
      return { size: 0, answer: () => undefined };
    }
  }

  async function call(client: pg.Client, batch: Batch): Promise<BatchRow> {
    // `pg` supports `query_timeout`; its types do not declare it.
    const query: pg.QueryConfig & { query_timeout: number } = {
      name: 'eventstore_append',
      text: APPEND,
      values: [...parametersOf(batch)],
      query_timeout: CALL_TIMEOUT_MS,
    };
    const { rows } = await client.query<BatchRow>(query);
    if (!rows[0]) throw new TypeError('eventstore.append returned no row');
    return rows[0];
  }

  function answer(entries: readonly QueueEntry[], batch: Batch, outcomes: readonly Outcome[]): void {
    const byAppend = new Map(batch.appends.map((append, index) => [append, outcomes[index]]));
    for (const entry of entries) {
      const own = entry.appends.map((append) => byAppend.get(append));
      const worst =
        own.find((outcome) => outcome?.error && outcome.error.code !== 'store_unavailable') ??
        own.find((outcome) => outcome?.error);
      if (worst?.error) entry.reject(worst.error);
      else entry.resolve(own.flatMap((outcome) => outcome?.result ?? []));
    }
  }

  async function failed(client: pg.Client, entries: readonly QueueEntry[], error: unknown): Promise<void> {
    onError(error);
    if (!isRolledBack(error)) {
      connection.drop(client);
      for (const { reject } of entries) reject(refusal('outcome_unknown', { cause: error }));
      onUnknown();
    } else if (entries.length > 1 && !mayRetry(error)) {
      // One of the appends is at fault: send each alone, so that the others succeed.
      for (const entry of entries) {
        if (connection.current() === client) (await send(client, [entry])).answer();
        else entry.reject(refusal('store_unavailable', { cause: error }));
      }
    } else {
      for (const { reject } of entries) reject(refusalOf(error));
    }
  }

  /** Connects; refuses appends that have waited too long for a connection. */
  async function connected(): Promise<pg.Client> {
    for (let delay = 20; ; delay = Math.min(delay * 2, 1_000)) {
      try {
        return await connection.open();
      } catch (error) {
        onError(error);
        const reason = refusalOf(error);
        const hopeless = closed || reason.code === 'store_access_denied';
        queue.refuseLate(hopeless ? Infinity : performance.now() + delay, reason);
        if (queue.length() === 0) throw error;
        await pause(delay);
      }
    }
  }
}
