import type { SubscribeOptions, SubscriptionItem } from '../../../application/ports/event-store.ts';
import { laterOf, positionFrom } from '../../../domain/event.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import { matcherOf } from '../event-filter.ts';

/** A log in memory that grows, and who is to be told when it does. */
export type GrowingLog = {
  readonly log: readonly RecordedEvent[];
  readonly woken: Set<() => void>;
  readonly isClosed: () => boolean;
};

/** Subscription to a log in memory; see `EventStore.subscribe`. */
export async function* followLog({ log, woken, isClosed }: GrowingLog, { after, filter, batchSize = 500, signal }: SubscribeOptions): AsyncIterable<SubscriptionItem> {
  const matches = matcherOf(filter);
  let index = Number(after);
  let caughtUp = false;
  const ended = () => signal.aborted || isClosed();
  while (!ended()) {
    const events: RecordedEvent[] = [];
    const from = index;
    for (; index < log.length && events.length < batchSize; index += 1) {
      const event = log[index] as RecordedEvent;
      if (matches(event)) events.push(event);
    }
    const position = laterOf(after, positionFrom(index));
    if (events.length > 0) yield { kind: 'events', events, position };
    else if (index > from) yield { kind: 'checkpoint', position };
    else if (caughtUp) await grown();
    else {
      caughtUp = true;
      yield { kind: 'caught_up', position };
    }
  }

  function grown(): Promise<void> {
    return new Promise((resolve) => {
      const listener = () => {
        woken.delete(listener);
        signal.removeEventListener('abort', listener);
        resolve();
      };
      woken.add(listener);
      signal.addEventListener('abort', listener);
    });
  }
}
