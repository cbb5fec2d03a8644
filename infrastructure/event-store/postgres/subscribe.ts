import { stoppablePause } from '../../../application/concurrency/stoppable-pause.ts';
import { createWaker } from '../../../application/concurrency/waker.ts';
import type { SubscribeOptions, SubscriptionItem } from '../../../application/ports/event-store.ts';
import { positionFrom } from '../../../domain/event.ts';
import type { Database } from '../../postgres/database.ts';
import { PAGE_BYTES } from '../event-bytes.ts';
import { matcherOf } from '../event-filter.ts';
import { mayRetry, refusalOf } from './failures.ts';
import { numberOf, readPage } from './reader.ts';
import { createSubscriberBuffer } from './subscriber-buffer.ts';
import type { Tail } from './tail.ts';

export type SubscribeDependencies = {
  readonly database: Database;
  readonly tail: Tail;
  readonly onError: (error: unknown) => void;
  /** Ends every subscription when the store is closed. */
  readonly closing: AbortSignal;
};

/**
 * One subscription; see `EventStore.subscribe`. While behind, it reads pages from the database. Its buffer collects
 * the live events from the moment it was opened, so that the subscription joins the live tail without a gap. After an
 * overflow of the buffer it reads pages again.
 */
export async function* subscribe(
  { after, filter, batchSize = 500, signal: own }: SubscribeOptions,
  { database, tail, onError, closing }: SubscribeDependencies,
): AsyncIterable<SubscriptionItem> {
  const signal = AbortSignal.any([own, closing]);
  const pause = stoppablePause(signal);
  const waker = createWaker();
  const buffer = createSubscriberBuffer({
    matches: matcherOf(filter),
    onArrival: waker.wake,
  });
  signal.addEventListener('abort', waker.wake);
  let position = numberOf(after);
  let size = batchSize;
  try {
    await retry(() => tail.open(buffer));
    while (!signal.aborted) {
      yield* catchUp();
      if (isOver()) return;
      yield { kind: 'caught_up', position: positionFrom(position) };
      yield* live();
    }
  } finally {
    signal.removeEventListener('abort', waker.wake);
    tail.release(buffer);
  }

  async function* catchUp(): AsyncIterable<SubscriptionItem> {
    let joinAt = tail.position();
    buffer.reset(joinAt);
    while (!isOver()) {
      const page = await retry(() => readPage({ after: position, limit: size, filter }, { database }));
      if (!page || isOver()) return;
      const moved = page.to > position;
      position = page.to;
      // Adapts the number of events to their size, so that a page stays small in memory.
      if (page.events.length > 0) {
        size = Math.max(1, Math.min(batchSize, Math.floor((PAGE_BYTES * page.events.length) / page.bytes)));
        yield { kind: 'events', events: page.events, bytes: page.bytes, position: positionFrom(position) };
      } else if (moved) {
        yield { kind: 'checkpoint', position: positionFrom(position) };
      }
      if (buffer.overflowed()) {
        joinAt = tail.position();
        buffer.reset(joinAt);
      }
      if (position >= joinAt) {
        buffer.skipTo(position);
        return;
      }
    }
  }

  /** Runs until the signal aborts, or the buffer has overflowed and is empty. */
  async function* live(): AsyncIterable<SubscriptionItem> {
    while (!isOver()) {
      const waiting = buffer.take(batchSize);
      if (waiting) {
        const { events, bytes } = waiting;
        position = waiting.position;
        if (events.length > 0) yield { kind: 'events', events, bytes, position: positionFrom(position) };
        else yield { kind: 'checkpoint', position: positionFrom(position) };
      } else if (buffer.overflowed()) {
        return;
      } else {
        await waker.wait();
      }
    }
  }

  // A function, because the compiler assumes that `aborted` does not change.
  function isOver(): boolean {
    return signal.aborted;
  }

  /**
   * Repeats a read with growing pauses until it succeeds.
   * @returns undefined when the signal aborted
   * @throws permanent errors
   */
  async function retry<T>(read: () => Promise<T>): Promise<T | undefined> {
    for (let delay = 50; ; delay = Math.min(delay * 2, 2_000)) {
      if (isOver()) return undefined;
      try {
        return await read();
      } catch (error) {
        if (!mayRetry(error)) throw refusalOf(error);
        onError(error);
        await pause(delay);
      }
    }
  }
}
