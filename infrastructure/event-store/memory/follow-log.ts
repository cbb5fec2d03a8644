import type { SubscribeOptions, SubscriptionItem } from '../../../application/ports/event-store.ts';
import { type RecordedEvent, laterOf, positionFrom } from '../../../domain/event.ts';
import { PAGE_BYTES, bytesOf } from '../event-bytes.ts';
import { matcherOf } from '../event-filter.ts';

/** A log in memory with the listeners to call when it grows. */
export type GrowingLog = {
  readonly log: readonly RecordedEvent[];
  readonly woken: Set<() => void>;
  readonly isClosed: () => boolean;
};

/** Subscribes to a log in memory; see `EventStore.subscribe`. */
export async function* followLog(
  { after, filter, batchSize = 500, signal }: SubscribeOptions,
  { log, woken, isClosed }: GrowingLog,
): AsyncIterable<SubscriptionItem> {
  const matches = matcherOf(filter);
  let index = Number(after);
  let caughtUp = false;
  const ended = () => signal.aborted || isClosed();
  while (!ended()) {
    const events: RecordedEvent[] = [];
    let bytes = 0;
    const from = index;
    for (; index < log.length && events.length < batchSize && bytes < PAGE_BYTES; index += 1) {
      const event = log[index] as RecordedEvent;
      if (!matches(event)) continue;
      events.push(event);
      bytes += bytesOf(event);
    }
    const position = laterOf(after, positionFrom(index));
    if (events.length > 0) yield { kind: 'events', events, bytes, position };
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
