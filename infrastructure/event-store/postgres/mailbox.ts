import type { RecordedEvent } from '../../../domain/event.ts';
import type { EventMatcher } from '../event-filter.ts';
import type { LogPage } from './log-page.ts';

/** Most events and bytes that wait for one slow subscriber; past that it reads for itself. */
const MAX_EVENTS = 1_000;
const MAX_BYTES = 8 * 1024 * 1024;

/** Live events waiting for one subscriber: bounded, in order, without gaps from where it was opened. */
export type Mailbox = {
  /** Takes the next piece of the live log in, or overflows. */
  offer(page: LogPage): void;
  /** The waiting events, at most so many, and the position that they reach; undefined when nothing has moved. */
  take(most: number): { readonly events: readonly RecordedEvent[]; readonly position: number } | undefined;
  /** Forgets what is waiting; from now on it holds what comes after `position`. */
  reset(position: number): void;
  /** Leaves out what the subscriber has read for itself. */
  skipTo(position: number): void;
  /** It was offered more than it may hold: what waits is whole, later pieces are missing. */
  overflowed(): boolean;
  size(): number;
};

/** A mailbox for the events that match. `onArrival` is called when there is something to take, or it overflowed. */
export function createMailbox(matches: EventMatcher, onArrival: () => void): Mailbox {
  let waiting: { readonly event: RecordedEvent; readonly bytes: number }[] = [];
  let bytes = 0;
  /** All of the log up to here is waiting or taken. */
  let seen = 0;
  let taken = 0;
  let overflowed = false;

  function drop(count: number): readonly RecordedEvent[] {
    const dropped = waiting.slice(0, count);
    waiting = waiting.slice(count);
    for (const { bytes: size } of dropped) bytes -= size;
    return dropped.map(({ event }) => event);
  }

  return {
    offer(page) {
      if (overflowed || page.to <= seen) return;
      const fresh = page.events.filter((event) => Number(event.position) > seen && matches(event));
      const each = page.events.length === 0 ? 0 : page.bytes / page.events.length;
      if (fresh.length > 0 && (waiting.length + fresh.length > MAX_EVENTS || bytes + fresh.length * each > MAX_BYTES)) {
        overflowed = true;
      } else {
        for (const event of fresh) waiting.push({ event, bytes: each });
        bytes += fresh.length * each;
        seen = page.to;
      }
      onArrival();
    },
    take(most) {
      const last = waiting.length <= most;
      const events = drop(most);
      const position = last ? seen : Number(events.at(-1)?.position);
      if (events.length === 0 && position <= taken) return undefined;
      taken = position;
      return { events, position };
    },
    reset(position) {
      waiting = [];
      bytes = 0;
      seen = position;
      taken = position;
      overflowed = false;
    },
    skipTo(position) {
      drop(waiting.findLastIndex(({ event }) => Number(event.position) <= position) + 1);
      seen = Math.max(seen, position);
      taken = Math.max(taken, position);
    },
    overflowed: () => overflowed,
    size: () => waiting.length,
  };
}
