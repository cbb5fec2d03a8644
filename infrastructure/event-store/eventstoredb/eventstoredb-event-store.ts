import { setTimeout as pause } from 'node:timers/promises';
import type { EventStore } from '../../../application/ports/event-store.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { Metrics } from '../../../application/ports/metrics.ts';
import { hasCode, refusal } from '../../../domain/errors.ts';
import { connect } from './connection.ts';
import { createHeadReader, findEvent, readAll, readStream } from './reader.ts';
import { deleteStream, setRetention, streamInfo } from './stream-states.ts';
import { subscribe } from './subscribe.ts';
import { append } from './writer.ts';

export type EventStoreDbOptions = {
  /** `esdb://[user:password@]host:port[?tls=false]`, `esdb+discover://…`, or the same as `kurrentdb://…`. */
  readonly url: string;
  readonly logger?: Logger;
  readonly metrics?: Pick<Metrics, 'appendFinished'>;
  /** After that long without an answer an append is `outcome_unknown`. Default 10 s. */
  readonly appendTimeoutMs?: number;
  /** Silence of the server after which a read is given up. Default 30 s. */
  readonly readTimeoutMs?: number;
  /** Silence of a subscription after which it is compared with the head. Default 5 s. */
  readonly watchdogMs?: number;
  /** Pauses before a broken subscription is begun anew. Default from 50 ms to 5 s. */
  readonly backoffMs?: { readonly first: number; readonly most: number };
  /** Told of connection faults that the store mends by itself. */
  readonly onError?: (error: unknown) => void;
};

/** How long the client may take to end its calls. */
const GOODBYE_MS = 1_000;

/**
 * The event store on an EventStoreDB (20.10 or later for the protocol, 22.6 for positions in streams) or KurrentDB (spec 5, rule 5).
 * Swapping the client package stays in this folder.
 * @throws `store_unavailable` when it can't be reached, `store_access_denied`; TypeError for an address that is none
 */
export async function openEventStoreDb(options: EventStoreDbOptions): Promise<EventStore> {
  const { url, logger, metrics, appendTimeoutMs = 10_000, readTimeoutMs = 30_000, watchdogMs = 5000, backoffMs = { first: 50, most: 5000 } } = options;
  const connection = connect(url);
  const closing = new AbortController();
  const reading = { client: connection.reader, idleMs: readTimeoutMs };
  const writing = { connection, reading, timeoutMs: appendTimeoutMs };
  const readHead = createHeadReader(reading);
  const onError = (error: unknown): void => {
    options.onError?.(error);
    logger?.warn('event store subscription fault, it is begun anew', { error: error instanceof Error ? error.message : String(error) });
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
    capabilities: { atomicMultiStream: false, gaplessPositions: false, indexedIds: false },
    append: (stream, events, appendOptions) =>
      whenOpen(async () => {
        const start = performance.now();
        const finished = (outcome: 'ok' | 'conflict' | 'error') => metrics?.appendFinished(outcome, (performance.now() - start) / 1000);
        try {
          const result = await append(writing, stream, events, appendOptions);
          finished('ok');
          return result;
        } catch (error) {
          finished(hasCode(error, 'conflict') ? 'conflict' : 'error');
          throw error;
        }
      }),
    readStream: (stream, readOptions) => iterateWhenOpen(() => readStream(reading, stream, readOptions)),
    readAll: (readOptions) => iterateWhenOpen(() => readAll(reading, readOptions)),
    subscribe: (subscribeOptions) => subscribe({ client: connection.reader, head: readHead, watchdogMs, backoffMs, onError, closing: closing.signal }, subscribeOptions),
    head: () => whenOpen(readHead),
    findEvent: (id) => whenOpen(() => findEvent(reading, id)),
    streamInfo: (stream) => whenOpen(() => streamInfo(writing, stream)),
    setRetention: (stream, retention) => whenOpen(() => setRetention(writing, stream, retention)),
    deleteStream: (stream, deleteOptions) => whenOpen(() => deleteStream(writing, stream, deleteOptions)),
    async close() {
      if (closing.signal.aborted) return;
      closing.abort();
      // The client waits for streams it has cancelled to finish; one that nobody reads any more never does.
      const late = new AbortController();
      const goodbye = pause(GOODBYE_MS, undefined, { signal: late.signal }).catch(() => undefined);
      await Promise.race([Promise.all([connection.reader.dispose(), connection.writer.dispose()]), goodbye]);
      late.abort();
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
