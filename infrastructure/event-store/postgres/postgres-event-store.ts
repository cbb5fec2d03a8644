import type { EventStore } from '../../../application/ports/event-store.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import { reasonOf } from '../../../application/ports/transient-errors.ts';
import { positionFrom } from '../../../domain/event.ts';
import type { Database } from '../../postgres/database.ts';
import { encodeAppend, encodeAppends } from '../encode-append.ts';
import { refusalOf } from './failures.ts';
import { pageOf, writtenBy } from './log-page.ts';
import { findEvent, readAll, readHead, readStream } from './reader.ts';
import { deleteStream, readStreamInfo, setRetention } from './stream-states.ts';
import { subscribe } from './subscribe.ts';
import { type TailStats, openTail } from './tail.ts';
import { type WriterStats, openWriter } from './writer.ts';

export type PostgresEventStoreOptions = {
  /** A migrated database; its pool serves the reads. It stays open when the store is closed. */
  readonly database: Database;
  /** Called with connection errors from which the store recovers. */
  readonly onError?: (error: unknown) => void;
  readonly logger?: Logger;
};

export type PostgresEventStore = EventStore & {
  stats(): { readonly writer: WriterStats; readonly tail: TailStats };
};

/**
 * Opens the event store in PostgreSQL: positions without gaps in commit order, group commit, one tail shared by all
 * subscriptions of the process.
 * @throws when the schema `eventstore` is not readable
 */
export async function openPostgresEventStore({
  database,
  onError,
  logger,
}: PostgresEventStoreOptions): Promise<PostgresEventStore> {
  const closing = new AbortController();
  const report = (error: unknown) => {
    onError?.(error);
    logger?.warn('a connection of the event store was lost', { reason: reasonOf(error) });
  };
  const writer = openWriter({
    database,
    onWritten: (batch, outcomes, row) => {
      tail.written(row.r_before, row.r_before + writtenBy(batch, outcomes), () => pageOf(batch, outcomes, row));
    },
    onUnknown: () => {
      tail.wake();
    },
    onError: report,
  });
  const tail = openTail({ database, writerBackend: () => writer.backend(), onError: report });
  await readHead({ database });

  return {
    capabilities: { atomicMultiStream: true, gaplessPositions: true, indexedIds: true, guards: true },
    async append(stream, events, { expected, guards, signal }) {
      const append = encodeAppend({ stream, events, expected, guards });
      const [result] = await writer.write([append], { atomic: false, signal });
      if (!result) throw new TypeError('an append without outcome');
      return result;
    },
    appendMany: async (writes) => writer.write(encodeAppends(writes), { atomic: true }),
    readStream: (stream, options) => readStream(stream, options, { database }),
    readAll: (options) => readAll(options, { database }),
    subscribe: (options) => subscribe(options, { database, tail, onError: report, closing: closing.signal }),
    async head() {
      try {
        return positionFrom(await readHead({ database }));
      } catch (error) {
        throw refusalOf(error);
      }
    },
    findEvent: (id) => findEvent(id, { database }),
    streamInfo: (stream) => readStreamInfo(stream, { database }),
    setRetention: (stream, retention) => setRetention(stream, retention, { database }),
    deleteStream: (stream, options) => deleteStream(stream, options, { database }),
    stats: () => ({ writer: writer.stats(), tail: tail.stats() }),
    async close() {
      closing.abort();
      await writer.close();
      await tail.close();
    },
  };
}
