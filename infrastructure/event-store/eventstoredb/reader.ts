import type { EventStoreDBClient } from '@eventstore/db-client';
import { ErrorType } from '@eventstore/db-client';
import type { ReadAllOptions, ReadStreamOptions } from '../../../application/ports/event-store.ts';
import type { GlobalPosition, RecordedEvent } from '../../../domain/event.ts';
import { ORIGIN } from '../../../domain/event.ts';
import { matcherOf } from '../event-filter.ts';
import { drain } from './drain.ts';
import { failureType, refusalOfRead } from './failures.ts';
import type { Stored } from './recorded-event.ts';
import { positionOf, recordedEvent, startAfter } from './recorded-event.ts';

export type ReaderOptions = {
  readonly client: EventStoreDBClient;
  /** Silence after which a read is given up. */
  readonly idleMs: number;
};

/** Most events asked for at once where the reader may stop early. */
const PAGE = 1000;
/** How far the server's clock may be behind that of who made an id. */
const CLOCK_MARGIN_MS = 10 * 60_000;

/** Events of one stream; see `EventStore.readStream`. */
export async function* readStream({ client, idleMs }: ReaderOptions, stream: string, { from, direction = 'forwards', limit = Infinity, signal }: ReadStreamOptions = {}): AsyncIterable<RecordedEvent> {
  signal?.throwIfAborted();
  if (limit <= 0 || stream === '') return;
  const read = client.readStream(stream, {
    direction,
    fromRevision: from === undefined ? (direction === 'forwards' ? 'start' : 'end') : BigInt(from),
    ...(limit === Infinity ? {} : { maxCount: limit }),
  });
  try {
    for await (const { event, commitPosition } of drain(read, { idleMs, signal })) {
      const recorded = event && recordedEvent(event, commitPosition);
      if (recorded) yield recorded;
    }
  } catch (error) {
    signal?.throwIfAborted();
    const type = failureType(error);
    if (type === ErrorType.STREAM_NOT_FOUND || type === ErrorType.STREAM_DELETED) return;
    throw refusalOfRead(error);
  }
}

type LogRecord = { readonly event: Stored; readonly position: GlobalPosition };

/**
 * Every record of the log, system events included, in pages that grow up to `PAGE`: the server can't filter such reads, and sends what
 * it was asked for, wanted or not. `first` is the size of the first page; Infinity asks for everything at once.
 */
export async function* readLog({ client, idleMs }: ReaderOptions, { after, direction, first, signal }: { after?: GlobalPosition | undefined; direction: 'forwards' | 'backwards'; first: number; signal?: AbortSignal | undefined }): AsyncIterable<LogRecord> {
  const forwards = direction === 'forwards';
  let last = after;
  let size = first;
  for (;;) {
    let seen = 0;
    const fromPosition = last === undefined ? (forwards ? 'start' : 'end') : startAfter(last);
    const read = client.readAll({ direction, fromPosition, ...(size === Infinity ? {} : { maxCount: size }) });
    for await (const { event, commitPosition } of drain(read, { idleMs, signal })) {
      seen += 1;
      if (!event) continue;
      const position = positionOf(event, commitPosition);
      // Forwards the server begins with the event at the position.
      if (last !== undefined && (forwards ? position <= last : position >= last)) continue;
      last = position;
      yield { event, position };
    }
    if (seen < size) return;
    size = Math.min(size * 4, PAGE);
  }
}

/** Events of the log; see `EventStore.readAll`. */
export async function* readAll(options: ReaderOptions, { after, direction = 'forwards', limit = Infinity, filter, signal }: ReadAllOptions = {}): AsyncIterable<RecordedEvent> {
  signal?.throwIfAborted();
  if (limit <= 0 || (direction === 'backwards' && after === ORIGIN)) return;
  const matches = matcherOf(filter);
  let left = limit;
  try {
    for await (const { event, position } of readLog(options, { after, direction, first: limit === Infinity ? Infinity : Math.min(Math.max(limit + 1, 16), PAGE), signal })) {
      const recorded = recordedEvent(event, BigInt(position));
      if (!recorded || !matches(recorded)) continue;
      yield recorded;
      left -= 1;
      if (left === 0) return;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw refusalOfRead(error);
  }
}

/**
 * Reads the head: the position of the last event of ours, which is what every subscription reaches. What lies behind it, statistics of the
 * server for instance, is looked through once only.
 */
export function createHeadReader(options: ReaderOptions): () => Promise<GlobalPosition> {
  let known = { top: ORIGIN, head: ORIGIN };
  return async () => {
    let top: GlobalPosition | undefined;
    let head: GlobalPosition | undefined;
    try {
      for await (const { event, position } of readLog(options, { direction: 'backwards', first: 8 })) {
        top ??= position;
        // A log whose end lies before what was seen was cut by its operators: nothing known of it counts.
        if (top >= known.top && position <= known.top) head = known.head;
        else if (recordedEvent(event, BigInt(position))) head = position;
        if (head !== undefined) break;
      }
    } catch (error) {
      throw refusalOfRead(error);
    }
    const seen = { top: top ?? ORIGIN, head: head ?? ORIGIN };
    known = seen;
    return seen.head;
  };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * See `EventStore.findEvent`. There is no index by id: reads the log backwards, to the time that a UUID of version 7 tells
 * (less a margin for clocks), to the origin for other ids.
 */
export async function findEvent(options: ReaderOptions, id: string): Promise<RecordedEvent | undefined> {
  if (!UUID.test(id)) return undefined;
  const oldest = id[14] === '7' ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) - CLOCK_MARGIN_MS : -Infinity;
  try {
    for await (const { event, position } of readLog(options, { direction: 'backwards', first: 64 })) {
      if (event.created.getTime() < oldest) return undefined;
      if (event.id === id) {
        const recorded = recordedEvent(event, BigInt(position));
        if (recorded) return recorded;
      }
    }
    return undefined;
  } catch (error) {
    throw refusalOfRead(error);
  }
}
