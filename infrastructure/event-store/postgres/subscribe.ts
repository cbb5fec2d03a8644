import { setTimeout as pause } from 'node:timers/promises';
import type { SubscribeOptions, SubscriptionItem } from '../../../application/ports/event-store.ts';
import { positionFrom } from '../../../domain/event.ts';
import type { Database } from '../../postgres/database.ts';
import { matcherOf } from '../event-filter.ts';
import { isPassing, refusalOf } from './failures.ts';
import { createMailbox } from './mailbox.ts';
import { numberOf, readPage } from './reader.ts';
import type { Tail } from './tail.ts';

const PAGE_BYTES = 4 * 1024 * 1024;

export type SubscribeDependencies = {
  readonly database: Database;
  readonly tail: Tail;
  readonly onError: (error: unknown) => void;
  /** Ends every subscription when the store is closed. */
  readonly closing: AbortSignal;
};

/**
 * One subscription; see `EventStore.subscribe`. Behind, it reads pages of its own; from the moment its mailbox was opened at the tail, all that
 * comes is kept for it, so that it joins without a gap; when the mailbox overflows it reads again.
 */
export async function* subscribe({ database, tail, onError, closing }: SubscribeDependencies, { after, filter, batchSize = 500, signal: own }: SubscribeOptions): AsyncIterable<SubscriptionItem> {
  const signal = AbortSignal.any([own, closing]);
  let arrived: () => void = () => undefined;
  const mailbox = createMailbox(matcherOf(filter), () => {
    arrived();
  });
  const onAbort = () => {
    arrived();
  };
  signal.addEventListener('abort', onAbort);
  let position = numberOf(after);
  let size = batchSize;
  try {
    await persist(() => tail.open(mailbox));
    while (!signal.aborted) {
      yield* catchUp();
      if (isOver()) return;
      yield { kind: 'caught_up', position: positionFrom(position) };
      yield* live();
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    tail.release(mailbox);
  }

  async function* catchUp(): AsyncIterable<SubscriptionItem> {
    let joinAt = tail.position();
    mailbox.reset(joinAt);
    while (!isOver()) {
      const page = await persist(() => readPage(database, position, size, filter));
      if (!page || isOver()) return;
      const moved = page.to > position;
      position = page.to;
      // Pages stay small in memory whatever the events' size.
      if (page.events.length > 0) {
        size = Math.max(1, Math.min(batchSize, Math.floor((PAGE_BYTES * page.events.length) / page.bytes)));
        yield { kind: 'events', events: page.events, position: positionFrom(position) };
      } else if (moved) {
        yield { kind: 'checkpoint', position: positionFrom(position) };
      }
      if (mailbox.overflowed()) {
        joinAt = tail.position();
        mailbox.reset(joinAt);
      }
      if (position >= joinAt) {
        mailbox.skipTo(position);
        return;
      }
    }
  }

  /** Until the signal ends or the mailbox overflows and is empty. */
  async function* live(): AsyncIterable<SubscriptionItem> {
    while (!isOver()) {
      const waiting = mailbox.take(batchSize);
      if (waiting) {
        position = waiting.position;
        if (waiting.events.length > 0) yield { kind: 'events', events: waiting.events, position: positionFrom(position) };
        else yield { kind: 'checkpoint', position: positionFrom(position) };
      } else if (mailbox.overflowed()) {
        return;
      } else {
        await new Promise<void>((resolve) => {
          arrived = resolve;
        });
      }
    }
  }

  // A call, because the compiler believes that `aborted` stays what it was.
  function isOver(): boolean {
    return signal.aborted;
  }

  /** Repeats a read until it succeeds, with growing pauses. @returns undefined when the signal ended. @throws what no retry mends */
  async function persist<T>(read: () => Promise<T>): Promise<T | undefined> {
    for (let delay = 50; ; delay = Math.min(delay * 2, 2_000)) {
      if (isOver()) return undefined;
      try {
        return await read();
      } catch (error) {
        if (!isPassing(error)) throw refusalOf(error);
        onError(error);
        await pause(delay, undefined, { signal }).catch(() => undefined);
      }
    }
  }
}
