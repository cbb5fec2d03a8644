import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { withDeadline } from '../../../application/concurrency/with-deadline.ts';
import type { AppendResult } from '../../../application/ports/event-store.ts';
import { refusal } from '../../../domain/errors.ts';
import type { Database } from '../../postgres/database.ts';
import type { EncodedAppend } from '../encode-append.ts';
import { APPEND, type Batch, type BatchRow, type Outcome, batchOf, outcomesOf, parametersOf } from './batch.ts';
import { isRolledBack, mayRetry, refusalOf } from './failures.ts';

/** Maximum number of appends and bytes in one call; a single append may be larger. */
const MAX_APPENDS = 256;
/** A queue of at least twice this many appends is sent in two halves. */
const MIN_HALF = 16;
const MAX_BYTES = 4 * 1024 * 1024;
/** Maximum bytes in the queue; further appends are refused. */
const MAX_QUEUED_BYTES = 128 * 1024 * 1024;
/** Time that an append waits for a connection before it is refused, in milliseconds. */
const CONNECTION_WAIT_MS = 5_000;
/** After this time without a response the outcome of a call is unknown. Longer than the server's own limit. */
const CALL_TIMEOUT_MS = 15_000;
const CONNECT_TIMEOUT_MS = 3_000;

const SETTINGS = `set statement_timeout = '10s'; set lock_timeout = '5s';
  set idle_in_transaction_session_timeout = '10s'; set jit = off; set enable_seqscan = off;
  set plan_cache_mode = force_generic_plan; set synchronous_commit = on`;

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

type Entry = {
  readonly appends: readonly EncodedAppend[];
  readonly atomic: boolean;
  readonly bytes: number;
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (results: readonly AppendResult[]) => void;
  readonly reject: (error: unknown) => void;
};

/** A batch whose results are known and not yet passed to its writers. */
type Settle = { readonly size: number; answer(): void };

/**
 * Opens the writer; it connects on the first append. Group commit: the appends queued while a batch is in flight form
 * the next batch.
 */
export function openWriter({ database, onWritten, onUnknown, onError }: WriterOptions): Writer {
  let queue: Entry[] = [];
  let queuedBytes = 0;
  let client: pg.Client | undefined;
  let backend: number | undefined;
  let running: Promise<void> | undefined;
  let closed = false;
  let batches = 0;
  let largestBatch = 0;
  let connections = 0;

  return {
    write(appends, { atomic, signal }) {
      return new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        if (closed) throw refusal('store_unavailable', { message: 'the event store is closed' });
        const bytes = appends.reduce((sum, append) => sum + append.bytes, 0);
        if (queuedBytes > 0 && queuedBytes + bytes > MAX_QUEUED_BYTES)
          throw refusal('store_unavailable', { message: 'too many appends are waiting' });
        queuedBytes += bytes;
        queue.push({
          appends,
          atomic,
          bytes,
          deadline: performance.now() + CONNECTION_WAIT_MS,
          signal,
          resolve,
          reject,
        });
        running ??= run();
      });
    },
    stats: () => ({ batches, largestBatch, connections, queued: queue.length }),
    backend: () => backend,
    async close() {
      closed = true;
      while (running) await running;
      await client?.end().catch(onError);
      client = undefined;
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
        if (settle === undefined || queue.length * 2 < settle.size || client === undefined) {
          settle?.answer();
          settle = undefined;
          // One turn of the event loop, so that writers that just got results can queue again.
          await nextTurn();
        }
        if (queue.length === 0) return;
        const connection = client ?? (await connected());
        const entries = take(
          settle === undefined && queue.length >= 2 * MIN_HALF ? Math.ceil(queue.length / 2) : MAX_APPENDS,
        );
        const sent = entries.length === 0 ? undefined : send(connection, entries);
        settle?.answer();
        settle = await sent;
      }
    } catch (error) {
      // `connected` gave up and refused all queued appends.
      onError(error);
    } finally {
      // Appends may have been queued while `connected` gave up.
      running = queue.length > 0 ? run() : undefined;
    }
  }

  /** Removes the entries of the next batch from the queue. */
  function take(most: number): readonly Entry[] {
    const taken: Entry[] = [];
    let bytes = 0;
    let examined = 0;
    for (const entry of queue) {
      if (
        taken.length > 0 &&
        (entry.atomic || taken.length === most || taken.length === MAX_APPENDS || bytes + entry.bytes > MAX_BYTES)
      )
        break;
      examined += 1;
      queuedBytes -= entry.bytes;
      if (entry.signal?.aborted) {
        entry.reject(entry.signal.reason);
        continue;
      }
      taken.push(entry);
      bytes += entry.bytes;
      if (entry.atomic) break;
    }
    queue = queue.slice(examined);
    return taken;
  }

  /** Sends a batch. @returns a function that passes the results to its writers */
  async function send(connection: pg.Client, entries: readonly Entry[]): Promise<Settle> {
    const batch = batchOf(
      entries.flatMap(({ appends }) => appends),
      entries[0]?.atomic,
    );
    batches += 1;
    largestBatch = Math.max(largestBatch, batch.appends.length);
    try {
      const row = await call(connection, batch);
      const outcomes = outcomesOf(batch, row);
      return {
        size: entries.length,
        answer() {
          answer(entries, batch, outcomes);
          if (outcomes.some(({ result }) => result?.duplicate === false)) onWritten(batch, outcomes, row);
        },
      };
    } catch (error) {
      await failed(connection, entries, error);
      return { size: 0, answer: () => undefined };
    }
  }

  async function call(connection: pg.Client, batch: Batch): Promise<BatchRow> {
    // `pg` supports `query_timeout`; its types do not declare it.
    const query: pg.QueryConfig & { query_timeout: number } = {
      name: 'eventstore_append',
      text: APPEND,
      values: [...parametersOf(batch)],
      query_timeout: CALL_TIMEOUT_MS,
    };
    const { rows } = await connection.query<BatchRow>(query);
    if (!rows[0]) throw new TypeError('eventstore.append returned no row');
    return rows[0];
  }

  function answer(entries: readonly Entry[], batch: Batch, outcomes: readonly Outcome[]): void {
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

  async function failed(connection: pg.Client, entries: readonly Entry[], error: unknown): Promise<void> {
    onError(error);
    if (!isRolledBack(error)) {
      drop(connection);
      for (const { reject } of entries) reject(refusal('outcome_unknown', { cause: error }));
      onUnknown();
    } else if (entries.length > 1 && !mayRetry(error)) {
      // One of the appends is at fault: send each alone, so that the others succeed.
      for (const entry of entries) {
        if (client === connection) (await send(connection, [entry])).answer();
        else entry.reject(refusal('store_unavailable', { cause: error }));
      }
    } else {
      for (const { reject } of entries) reject(refusalOf(error));
    }
  }

  function drop(connection: pg.Client): void {
    if (client === connection) {
      client = undefined;
      backend = undefined;
    }
    // Closes the socket immediately if a query is active.
    connection.end().catch(onError);
  }

  /** Connects; refuses appends that have waited too long for a connection. */
  async function connected(): Promise<pg.Client> {
    for (let delay = 20; ; delay = Math.min(delay * 2, 1_000)) {
      try {
        return await connect();
      } catch (error) {
        onError(error);
        const reason = refusalOf(error);
        const hopeless = closed || reason.code === 'store_access_denied';
        const now = performance.now();
        const late = queue.filter(({ deadline }) => hopeless || deadline <= now + delay);
        queue = queue.filter((entry) => !late.includes(entry));
        for (const entry of late) {
          queuedBytes -= entry.bytes;
          entry.reject(reason);
        }
        if (queue.length === 0) throw error;
        await pause(delay);
      }
    }
  }

  async function connect(): Promise<pg.Client> {
    const connecting = database.connect();
    const opened = await withDeadline(connecting, CONNECT_TIMEOUT_MS, () => {
      connecting.then((late) => late.end()).catch(onError);
      throw refusal('store_unavailable', { message: 'no connection in time' });
    });
    opened.once('end', () => {
      drop(opened);
    });
    opened.once('error', () => {
      drop(opened);
    });
    await opened.query(SETTINGS);
    const { rows } = await opened.query<{ pid: number }>('select pg_backend_pid() as pid');
    connections += 1;
    backend = rows[0]?.pid;
    client = opened;
    return opened;
  }
}
