import { createWaker } from '../../application/concurrency/waker.ts';
import type { EventFilter, EventStore, SubscriptionItem } from '../../application/ports/event-store.ts';
import type { GlobalPosition, RecordedEvent } from '../../domain/event.ts';
import { createAppendJoiner, isBetweenAppends, partOf } from './whole-appends.ts';

/**
 * Events read since the previous batch, up to the maximum size of a batch. All events of an append are in one batch,
 * even when they exceed that size, so that they become visible together.
 */
export type Batch = {
  readonly events: readonly RecordedEvent[];
  /** Position to resume from; after the last event when later events were filtered out. */
  readonly position: GlobalPosition;
  /** Whether the batch ends at the head of the log and nothing more is waiting. */
  readonly caughtUp: boolean;
};

export type BatchOptions = {
  readonly eventStore: Pick<EventStore, 'head' | 'subscribe'>;
  readonly after: GlobalPosition;
  readonly filter: EventFilter;
  /** Maximum number of events in a batch, and of events read ahead while one is applied. */
  readonly maxEvents: number;
  /** The same in bytes. Default 8 MiB. A single item of the subscription may be larger. */
  readonly maxBytes?: number | undefined;
  readonly signal: AbortSignal;
  /**
   * The table that an event changes, besides those that every batch may change. A batch changes at most 100 of them,
   * because its transaction holds locks on all of them.
   */
  readonly tableOf?: ((event: RecordedEvent) => string | undefined) | undefined;
};

const MAX_TABLES = 100;
const MAX_BYTES = 8 * 1024 * 1024;

export type Batches = {
  /**
   * Waits for the next batch. Returns `idle` after `timeoutMs` without one and `ended` after the signal has aborted.
   * @throws what the event store throws
   */
  next(timeoutMs?: number): Promise<Batch | 'idle' | 'ended'>;
  /** Stops reading and waits until reading has ended. */
  close(): Promise<void>;
};

/**
 * Reads ahead, at most one batch, while the caller applies the previous one. A batch holds what has arrived: few events
 * when the caller is live, many when it is behind.
 */
export function openBatches({
  eventStore,
  after,
  filter,
  maxEvents,
  maxBytes = MAX_BYTES,
  signal,
  tableOf,
}: BatchOptions): Batches {
  const closing = new AbortController();
  const stop = AbortSignal.any([signal, closing.signal]);
  const waiting: SubscriptionItem[] = [];
  let waitingEvents = 0;
  let waitingBytes = 0;
  let ended: { readonly error?: unknown } | undefined;
  let caughtUp = false;
  const reader = createWaker();
  const caller = createWaker();

  async function read(): Promise<void> {
    let last = after;
    const join = createAppendJoiner();
    for await (const item of eventStore.subscribe({
      after,
      filter,
      batchSize: Math.min(maxEvents, 500),
      signal: stop,
    })) {
      const fresh = freshPart(item, last);
      if (!fresh) continue;
      last = fresh.position;
      for (const whole of join(fresh)) {
        waiting.push(whole);
        waitingEvents += whole.kind === 'events' ? whole.events.length : 0;
        waitingBytes += whole.kind === 'events' ? whole.bytes : 0;
      }
      caller.wake();
      while ((waitingEvents >= maxEvents || waitingBytes >= maxBytes) && !stop.aborted) await reader.wait();
      if (stop.aborted) return;
    }
  }

  /** How many of the events fit the batch; adds their tables to those of the batch. */
  function countWithin(events: readonly RecordedEvent[], tables: Set<string>): number {
    if (!tableOf) return events.length;
    const isEmpty = tables.size === 0;
    let end = events.findIndex((event) => {
      const table = tableOf(event);
      if (table !== undefined && !tables.has(table) && tables.size === MAX_TABLES) return true;
      if (table !== undefined) tables.add(table);
      return false;
    });
    if (end < 0) return events.length;
    const limit = end;
    while (end > 0 && !isBetweenAppends(events, end)) end -= 1;
    if (end > 0 || !isEmpty) return end;
    // The first append alone changes more tables.
    for (end = limit; !isBetweenAppends(events, end);) end += 1;
    return end;
  }

  function take(): Batch | undefined {
    const [first] = waiting;
    if (!first) return undefined;
    let taken = 0;
    let bytes = 0;
    const events: RecordedEvent[] = [];
    let { position } = first;
    const tables = new Set<string>();
    for (const item of waiting) {
      if (item.kind === 'events') {
        if (taken > 0 && (events.length + item.events.length > maxEvents || bytes + item.bytes > maxBytes)) break;
        const fitting = countWithin(item.events, tables);
        if (fitting < item.events.length) {
          if (fitting > 0) {
            const part = partOf(item, 0, fitting);
            for (const event of part.events) events.push(event);
            position = part.position;
            bytes += part.bytes;
            waiting[taken] = partOf(item, fitting, item.events.length);
          }
          break;
        }
        for (const event of item.events) events.push(event);
        bytes += item.bytes;
      }
      position = item.position;
      caughtUp = item.kind === 'caught_up' || (caughtUp && events.length < maxEvents);
      taken += 1;
    }
    waiting.splice(0, taken);
    waitingEvents -= events.length;
    waitingBytes -= bytes;
    reader.wake();
    return { events, position, caughtUp: caughtUp && waiting.length === 0 };
  }

  const reading = read()
    .then(
      () => {
        ended = {};
      },
      (error: unknown) => {
        ended = stop.aborted ? {} : { error };
      },
    )
    .finally(caller.wake);
  stop.addEventListener(
    'abort',
    () => {
      reader.wake();
      caller.wake();
    },
    { once: true },
  );

  return {
    async next(timeoutMs) {
      for (;;) {
        if (stop.aborted) return 'ended';
        const batch = take();
        if (batch) return batch;
        if (ended) {
          if ('error' in ended) throw ended.error;
          return 'ended';
        }
        if (!(await caller.wait(timeoutMs))) return 'idle';
      }
    },
    async close() {
      closing.abort();
      await reading;
    },
  };
}

/** The part of an item after `last`: an event store that reconnects may repeat events. */
function freshPart(item: SubscriptionItem, last: GlobalPosition): SubscriptionItem | undefined {
  if (item.kind === 'caught_up') return item.position < last ? { ...item, position: last } : item;
  if (item.position <= last) return undefined;
  if (item.kind === 'checkpoint') return item;
  const [first] = item.events;
  if (first && first.position > last) return item;
  const index = item.events.findIndex(({ position }) => position > last);
  return index < 0 ? { kind: 'checkpoint', position: item.position } : partOf(item, index, item.events.length);
}
