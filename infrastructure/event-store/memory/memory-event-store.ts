import type { AppendResult, EventStore, Expected, Retention } from '../../../application/ports/event-store.ts';
import { refusal } from '../../../domain/errors.ts';
import {
  type GlobalPosition,
  ORIGIN,
  type RecordedEvent,
  type StreamRevision,
  positionFrom,
} from '../../../domain/event.ts';
import { conflictRefusal } from '../conflict.ts';
import { type EncodedAppend, checkExpected, checkRetention, encodeAppend, encodeAppends } from '../encode-append.ts';
import { matcherOf } from '../event-filter.ts';
import { followLog } from './follow-log.ts';

type Stream = {
  readonly events: RecordedEvent[];
  /** Events before this revision are deleted; `Infinity` when tombstoned. */
  hiddenBefore: number;
  retention: Retention;
};

/** An event store in the memory of this process, for tests. Its events are lost when it is closed. */
export function openMemoryEventStore({ now = () => new Date() }: { readonly now?: () => Date } = {}): EventStore {
  const log: RecordedEvent[] = [];
  const streams = new Map<string, Stream>();
  const woken = new Set<() => void>();
  let closed = false;

  return {
    capabilities: { atomicMultiStream: true, gaplessPositions: true, indexedIds: true, guards: false },
    append: (stream, events, { expected, signal }) =>
      attempt(() => {
        const append = encodeAppend({ stream, events, expected });
        signal?.throwIfAborted();
        return write([append])[0] as AppendResult;
      }),
    appendMany: (writes) => attempt(() => write(encodeAppends(writes))),
    readStream(name, { from, direction = 'forwards', limit = Infinity, signal } = {}) {
      return yieldAll(() => {
        signal?.throwIfAborted();
        checkOpen();
        const stream = streams.get(name);
        if (!stream) return [];
        const first = firstVisible(stream);
        const young =
          stream.retention.maxAgeSeconds === undefined
            ? ''
            : new Date(now().getTime() - stream.retention.maxAgeSeconds * 1000).toISOString();
        const visible = stream.events.filter(({ revision, recorded_at }) => revision >= first && recorded_at > young);
        const chosen =
          direction === 'forwards'
            ? visible.filter(({ revision }) => revision >= (from ?? 0))
            : visible.filter(({ revision }) => revision <= (from ?? Infinity)).reverse();
        return chosen.slice(0, limit);
      });
    },
    readAll({ after, direction = 'forwards', limit = Infinity, filter, signal } = {}) {
      return yieldAll(() => {
        signal?.throwIfAborted();
        checkOpen();
        const matches = matcherOf(filter);
        const chosen =
          direction === 'forwards'
            ? log.slice(Number(after ?? ORIGIN))
            : log.slice(0, after === undefined ? undefined : Math.max(0, Number(after) - 1)).reverse();
        return chosen.filter(matches).slice(0, limit);
      });
    },
    subscribe: (options) => followLog(options, { log, woken, isClosed: () => closed }),
    findEvent: (id) => attempt(() => log.find((event) => event.id === id)),
    head: () => attempt(() => positionFrom(log.length)),
    streamInfo: (name) =>
      attempt(() => {
        const stream = streams.get(name);
        if (!stream || (stream.events.length === 0 && stream.hiddenBefore !== Infinity)) return undefined;
        const state = stream.hiddenBefore === Infinity ? 'tombstoned' : isDeleted(stream) ? 'deleted' : 'active';
        return { state, revision: headOf(stream), retention: stream.retention };
      }),
    setRetention: (name, retention) =>
      attempt(() => {
        checkRetention(retention);
        const stream = streamOf(name);
        if (stream.hiddenBefore === Infinity) throw refusal('stream_deleted');
        stream.retention = { ...retention };
      }),
    deleteStream: (name, { expected, mode }) =>
      attempt(() => {
        checkExpected(expected);
        const stream = streamOf(name);
        if (stream.hiddenBefore === Infinity) throw refusal('stream_deleted');
        if (!holds(stream, expected)) throw conflictRefusal({ stream: name, expected, actual: headOf(stream) });
        stream.hiddenBefore = mode === 'tombstone' ? Infinity : stream.events.length;
      }),
    close() {
      closed = true;
      wake();
      return Promise.resolve();
    },
  };

  function attempt<T>(work: () => T): Promise<T> {
    return new Promise((resolve) => {
      checkOpen();
      resolve(work());
    });
  }

  function checkOpen(): void {
    if (closed) throw refusal('store_unavailable', { message: 'the event store is closed' });
  }

  function wake(): void {
    for (const listener of [...woken]) listener();
  }

  function streamOf(name: string): Stream {
    let stream = streams.get(name);
    if (!stream) streams.set(name, (stream = { events: [], hiddenBefore: 0, retention: {} }));
    return stream;
  }

  function write(appends: readonly EncodedAppend[]): readonly AppendResult[] {
    const judged = appends.map((append) => ({ append, earlier: judge(streamOf(append.stream), append) }));
    const repeated = judged.filter(({ earlier }) => earlier).length;
    if (repeated > 0 && repeated < judged.length) throw refusal('idempotency_corrupted');
    const end = positionFrom(log.length + appends.reduce((sum, { events }) => sum + events.length, 0));
    const results = judged.map(({ append, earlier }) => earlier ?? record(append, end));
    if (repeated === 0) wake();
    return results;
  }

  /** @returns the result of the first append when this append repeats it; undefined when it may be written */
  function judge(stream: Stream, { stream: name, expected, events }: EncodedAppend): AppendResult | undefined {
    if (stream.hiddenBefore === Infinity) throw refusal('stream_deleted');
    const head = headOf(stream);
    const fits = holds(stream, expected);
    if (fits && expected !== 'any' && expected !== 'stream_exists') return undefined;
    if (!fits && (expected === 'stream_exists' || (typeof expected === 'number' && expected > head)))
      throw conflictRefusal({ stream: name, expected, actual: head });
    const from =
      typeof expected === 'number'
        ? expected + 1
        : expected === 'no_stream'
          ? 0
          : stream.events.findIndex(({ id }) => id === events[0]?.id);
    const firstDifference = from < 0 ? 0 : events.findIndex(({ id }, n) => stream.events[from + n]?.id !== id);
    if (firstDifference === 0) {
      if (fits) return undefined;
      throw conflictRefusal({ stream: name, expected, actual: head });
    }
    if (firstDifference > 0) throw refusal('idempotency_corrupted');
    const revision = from + events.length - 1;
    return { revision, position: (stream.events[revision] as RecordedEvent).position, duplicate: true };
  }

  /** @param end position of the last event of the group */
  function record({ stream: name, events }: EncodedAppend, end: GlobalPosition): AppendResult {
    const stream = streamOf(name);
    const recordedAt = now().toISOString();
    for (const { id, type, data, metadata } of events) {
      const position = positionFrom(log.length + 1);
      const event: RecordedEvent = {
        id,
        type,
        data: JSON.parse(data) as RecordedEvent['data'],
        metadata: JSON.parse(metadata) as RecordedEvent['metadata'],
        stream: name,
        revision: stream.events.length,
        position,
        recorded_at: recordedAt,
        ...(position < end ? { append_end: end } : {}),
      };
      stream.events.push(event);
      log.push(event);
    }
    return { revision: headOf(stream), position: positionFrom(log.length), duplicate: false };
  }
}

/** Yields what `read` returns when the iteration begins. */
async function* yieldAll<T>(read: () => readonly T[]): AsyncIterable<T> {
  yield* await Promise.resolve(read());
}

function headOf(stream: Stream): StreamRevision {
  return stream.events.length - 1;
}

function isDeleted(stream: Stream): boolean {
  return stream.hiddenBefore > 0 && stream.hiddenBefore > headOf(stream);
}

function holds(stream: Stream, expected: Expected): boolean {
  const head = headOf(stream);
  if (expected === 'any') return true;
  if (expected === 'no_stream') return head < 0 || isDeleted(stream);
  if (expected === 'stream_exists') return head >= 0 && !isDeleted(stream);
  return expected === head;
}

function firstVisible({ hiddenBefore, retention, events }: Stream): number {
  return Math.max(
    hiddenBefore,
    retention.truncateBefore ?? 0,
    retention.maxCount === undefined ? 0 : events.length - retention.maxCount,
  );
}
