import { ErrorType, type EventStoreDBClient } from '@eventstore/db-client';
import type { ReadAllOptions, ReadStreamOptions } from '../../../application/ports/event-store.ts';
import { type GlobalPosition, ORIGIN, type RecordedEvent } from '../../../domain/event.ts';
import { isEventId } from '../encode-append.ts';
import { matcherOf } from '../event-filter.ts';
import { drain } from './drain.ts';
import { failureType, refusalOfRead } from './failures.ts';
import { type Stored, positionOf, recordedEvent, startAfter } from './recorded-event.ts';

export type ReadDependencies = {
  /** Every read requires the leader: decisions rest on it, and another node may lag behind. */
  readonly client: EventStoreDBClient;
  /** Silence after which a read fails, in milliseconds. */
  readonly idleMs: number;
};

/** Maximum number of events requested at once when the reader may stop early. */
const PAGE = 1000;
/** Maximum lag of the server's clock behind the clock that generated an id. */
const CLOCK_MARGIN_MS = 10 * 60_000;

/** Reads the events of one stream; see `EventStore.readStream`. */
export async function* readStream(
  stream: string,
  { from, direction = 'forwards', limit = Infinity, signal }: ReadStreamOptions = {},
  { client, idleMs }: ReadDependencies,
): AsyncIterable<RecordedEvent> {
  signal?.throwIfAborted();
  if (limit <= 0 || stream === '') return;
  const read = () =>
    client.readStream(stream, {
      requiresLeader: true,
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
 * Reads every record of the log, including system events, in pages that grow up to `PAGE`: the server cannot filter
 * such reads and sends all requested records. `first` is the size of the first page; Infinity requests everything at
 * once.
 */
async function* readLog(
  {
    after,
    direction,
    first,
    signal,
  }: {
    after?: GlobalPosition | undefined;
    direction: 'forwards' | 'backwards';
    first: number;
    signal?: AbortSignal | undefined;
  },
  { client, idleMs }: ReadDependencies,
): AsyncIterable<LogRecord> {
  const forwards = direction === 'forwards';
  let last = after;
  let size = first;
  for (;;) {
    let seen = 0;
    const fromPosition = last === undefined ? (forwards ? 'start' : 'end') : startAfter(last);
    const maxCount = size;
    const read = () =>
      client.readAll({
        requiresLeader: true,
        direction,
        fromPosition,
        ...(maxCount === Infinity ? {} : { maxCount }),
      });
    for await (const { event, commitPosition } of drain(read, { idleMs, signal })) {
      seen += 1;
      if (!event) continue;
      const position = positionOf(event, commitPosition);
      // Reading forwards, the server starts with the event at the position.
      if (last !== undefined && (forwards ? position <= last : position >= last)) continue;
      last = position;
      yield { event, position };
    }
    if (seen < size) return;
    size = Math.min(size * 4, PAGE);
  }
}

/** Reads the events of the log; see `EventStore.readAll`. */
export async function* readAll(
  { after, direction = 'forwards', limit = Infinity, filter, signal }: ReadAllOptions = {},
  dependencies: ReadDependencies,
): AsyncIterable<RecordedEvent> {
  signal?.throwIfAborted();
  if (limit <= 0 || (direction === 'backwards' && after === ORIGIN)) return;
  const matches = matcherOf(filter);
  let left = limit;
  try {
    for await (const { event, position } of readLog(
      {
        after,
        direction,
        first: limit === Infinity ? Infinity : Math.min(Math.max(limit + 1, 16), PAGE),
        signal,
      },
      dependencies,
    )) {
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
 * Creates a reader of the head: the position of the last event that is not a system event, which every subscription
 * reaches. Later records, such as statistics of the server, are examined only once.
 */
export function createHeadReader(dependencies: ReadDependencies): () => Promise<GlobalPosition> {
  let latest = { top: ORIGIN, head: ORIGIN };
  return async () => {
    let top: GlobalPosition | undefined;
    let head: GlobalPosition | undefined;
    try {
      for await (const { event, position } of readLog({ direction: 'backwards', first: 8 }, dependencies)) {
        top ??= position;
        // A log that ends before a known position was truncated by an operator: discard what is known of it.
        if (top >= latest.top && position <= latest.top) head = latest.head;
        else if (recordedEvent(event, BigInt(position))) head = position;
        if (head !== undefined) break;
      }
    } catch (error) {
      throw refusalOfRead(error);
    }
    const current = { top: top ?? ORIGIN, head: head ?? ORIGIN };
    latest = current;
    return current.head;
  };
}

/**
 * See `EventStore.findEvent`. The server has no index by id: reads the log backwards to the time encoded in a UUID of
 * version 7, minus a margin for clocks, and to the origin for other ids.
 */
export async function findEvent(id: string, dependencies: ReadDependencies): Promise<RecordedEvent | undefined> {
  if (!isEventId(id)) return undefined;
  const oldest = id[14] === '7' ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) - CLOCK_MARGIN_MS : -Infinity;
  try {
    for await (const { event, position } of readLog({ direction: 'backwards', first: 64 }, dependencies)) {
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
