import type { AppendResult, EventStore } from '../../../application/ports/event-store.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { Metrics } from '../../../application/ports/metrics.ts';
import { hasCode, refusal } from '../../../domain/errors.ts';
import { positionFrom } from '../../../domain/event.ts';
import type { Database } from '../../postgres/database.ts';
import type { EncodedAppend } from '../encode-append.ts';
import { encodeAppend } from '../encode-append.ts';
import { refusalOf } from './failures.ts';
import { pageOf } from './log-page.ts';
import { findEvent, readAll, readHead, readStream } from './reader.ts';
import { deleteStream, readStreamInfo, setRetention } from './stream-states.ts';
import { subscribe } from './subscribe.ts';
import type { TailStats } from './tail.ts';
import { openTail } from './tail.ts';
import type { WriterStats } from './writer.ts';
import { openWriter } from './writer.ts';

export type PostgresEventStoreOptions = {
  /** Migrated; its pool serves the reads. Stays open when the store is closed. */
  readonly database: Database;
  /** Told of connection faults that the store mends by itself. */
  readonly onError?: (error: unknown) => void;
  readonly logger?: Logger;
  readonly metrics?: Pick<Metrics, 'appendFinished'>;
};

export type PostgresEventStore = EventStore & {
  stats(): { readonly writer: WriterStats; readonly tail: TailStats };
};

/**
 * The event store inside PostgreSQL (spec 5, rule 4): gap-free positions in the order of the commits, group commit, one shared tail
 * for all subscriptions of the process.
 * @throws when the schema `eventstore` can't be read
 */
export async function openPostgresEventStore({ database, onError, logger, metrics }: PostgresEventStoreOptions): Promise<PostgresEventStore> {
  const closing = new AbortController();
  const report = (error: unknown) => {
    onError?.(error);
    logger?.warn('event store connection fault', { error: error instanceof Error ? error.message : String(error) });
  };
  const writer = openWriter({
    database,
    onWritten: (batch, outcomes, row) => {
      const count = outcomes.reduce((sum, { result }, index) => sum + (result && !result.duplicate ? (batch.appends[index]?.events.length ?? 0) : 0), 0);
      tail.written(row.r_before, row.r_before + count, () => pageOf(batch, outcomes, row));
    },
    onUnknown: () => {
      tail.wake();
    },
    onError: report,
  });
  const tail = openTail({ database, writerBackend: () => writer.backend(), onError: report });
  await readHead(database);

  async function write(appends: readonly EncodedAppend[], atomic: boolean, signal?: AbortSignal): Promise<readonly AppendResult[]> {
    const start = performance.now();
    const finished = (outcome: 'ok' | 'conflict' | 'error') => metrics?.appendFinished(outcome, (performance.now() - start) / 1000);
    try {
      const results = await writer.write(appends, { atomic, signal });
      finished('ok');
      return results;
    } catch (error) {
      finished(hasCode(error, 'conflict') ? 'conflict' : 'error');
      throw error;
    }
  }

  return {
    capabilities: { atomicMultiStream: true, gaplessPositions: true, indexedIds: true },
    async append(stream, events, { expected, signal }) {
      const [result] = await write([encodeAppend(stream, events, expected)], false, signal);
      if (!result) throw new TypeError('an append without outcome');
      return result;
    },
    async appendMany(writes) {
      if (writes.length === 0 || new Set(writes.map(({ stream }) => stream)).size < writes.length) {
        throw refusal('invalid_append', { message: 'each stream is named once' });
      }
      return write(writes.map(({ stream, events, expected }) => encodeAppend(stream, events, expected)), true);
    },
    readStream: (stream, options) => readStream(database, stream, options),
    readAll: (options) => readAll(database, options),
    subscribe: (options) => subscribe({ database, tail, onError: report, closing: closing.signal }, options),
    async head() {
      try {
        return positionFrom(await readHead(database));
      } catch (error) {
        throw refusalOf(error);
      }
    },
    findEvent: (id) => findEvent(database, id),
    streamInfo: (stream) => readStreamInfo(database, stream),
    setRetention: (stream, retention) => setRetention(database, stream, retention),
    deleteStream: (stream, options) => deleteStream(database, stream, options),
    stats: () => ({ writer: writer.stats(), tail: tail.stats() }),
    async close() {
      closing.abort();
      await writer.close();
      await tail.close();
    },
  };
}
