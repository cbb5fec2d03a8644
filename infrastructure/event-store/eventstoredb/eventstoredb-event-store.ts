import { withDeadline } from '../../../application/concurrency/with-deadline.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import { reasonOf } from '../../../application/ports/transient-errors.ts';
import { refusal } from '../../../domain/errors.ts';
import { createConnection } from './connection.ts';
import { createHeadReader, findEvent, readAll, readStream } from './reader.ts';
import { deleteStream, setRetention, streamInfo } from './stream-states.ts';
import { subscribe } from './subscribe.ts';
import { append } from './writer.ts';

export type EventStoreDbOptions = {
  /** `esdb://[user:password@]host:port[?tls=false]`, `esdb+discover://…`, or the same as `kurrentdb://…`. */
  readonly url: string;
  readonly logger?: Logger;
  /** Time without a response after which an append is `outcome_unknown`, in milliseconds. Default 10,000. */
  readonly appendTimeoutMs?: number;
  /** Silence of the server after which a read fails, in milliseconds. Default 30,000. */
  readonly readTimeoutMs?: number;
  /** Silence of a subscription after which its position is compared with the head, in milliseconds. Default 5,000. */
  readonly watchdogMs?: number;
  /** Pauses before a failed subscription is reopened, in milliseconds. Default from 50 to 5,000. */
  readonly backoffMs?: { readonly first: number; readonly most: number };
  /** Called with connection errors from which the store recovers. */
  readonly onError?: (error: unknown) => void;
};

/** Time that the client may take to end its calls, in milliseconds. */
const DISPOSE_TIMEOUT_MS = 1_000;

/**
 * Opens an event store on EventStoreDB (20.10 or later for the protocol, 22.6 for positions in streams) or KurrentDB.
 * The client package is used only in this folder.
 * @throws `store_unavailable` when it is unreachable, `store_access_denied`; TypeError for an invalid address
 */
export async function openEventStoreDb(options: EventStoreDbOptions): Promise<EventStore> {
  const {
    url,
    logger,
    appendTimeoutMs = 10_000,
    readTimeoutMs = 30_000,
    watchdogMs = 5000,
    backoffMs = { first: 50, most: 5000 },
  } = options;
  const connection = createConnection(url);
  const closing = new AbortController();
  const reading = { client: connection.reader, idleMs: readTimeoutMs };
  const writing = { connection, reading, timeoutMs: appendTimeoutMs };
  const readHead = createHeadReader(reading);
  const onError = (error: unknown): void => {
    options.onError?.(error);
    logger?.warn('a subscription to the event store failed and is reopened', {
      reason: reasonOf(error),
    });
  };

  function checkOpen(): void {
    if (closing.signal.aborted) throw refusal('store_unavailable', { message: 'the event store is closed' });
  }
  const whenOpen = async <T>(work: () => Promise<T>): Promise<T> => {
    checkOpen();
    return work();
  };
  async function* iterateWhenOpen<T>(read: () => AsyncIterable<T>): AsyncIterable<T> {
    checkOpen();
    yield* read();
  }

  const store: EventStore = {
    capabilities: { atomicMultiStream: false, gaplessPositions: false, indexedIds: false, guards: false },
    append: (stream, events, appendOptions) => whenOpen(() => append({ stream, events, ...appendOptions }, writing)),
    readStream: (stream, readOptions) => iterateWhenOpen(() => readStream(stream, readOptions, reading)),
    readAll: (readOptions) => iterateWhenOpen(() => readAll(readOptions, reading)),
    subscribe: (subscribeOptions) =>
      subscribe(subscribeOptions, {
        client: connection.subscriber,
        head: readHead,
        watchdogMs,
        backoffMs,
        onError,
        closing: closing.signal,
      }),
    head: () => whenOpen(readHead),
    findEvent: (id) => whenOpen(() => findEvent(id, reading)),
    streamInfo: (stream) => whenOpen(() => streamInfo(stream, writing)),
    setRetention: (stream, retention) => whenOpen(() => setRetention(stream, retention, writing)),
    deleteStream: (stream, deleteOptions) => whenOpen(() => deleteStream(stream, deleteOptions, writing)),
    async close() {
      if (closing.signal.aborted) return;
      closing.abort();
      // The client waits for cancelled streams to finish; a stream that is no longer read never does.
      const clients = [connection.subscriber, connection.reader, connection.writer];
      const disposed = Promise.all(clients.map((client) => client.dispose()));
      await withDeadline(disposed, DISPOSE_TIMEOUT_MS, () => undefined);
    },
  };
  try {
    await readHead();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}
