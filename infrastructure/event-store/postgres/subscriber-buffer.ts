import type { RecordedEvent } from '../../../domain/event.ts';
import type { EventMatcher } from '../event-filter.ts';
import type { LogPage } from './log-page.ts';

/**
 * Maximum number of events and bytes waiting for one slow subscriber; beyond that the subscriber reads from the
 * database.
 */
const MAX_EVENTS = 1_000;
const MAX_BYTES = 8 * 1024 * 1024;

/** Live events waiting for one subscriber: bounded, in order, without gaps since the buffer was opened. */
export type SubscriberBuffer = {
  /** Adds the next section of the live log, or overflows. */
  offer(page: LogPage): void;
  /**
   * Removes and returns at most `most` waiting events and the position they reach; undefined when nothing has changed.
   */
  take(
    most: number,
  ): { readonly events: readonly RecordedEvent[]; readonly bytes: number; readonly position: number } | undefined;
  /** Discards the waiting events; from now on it collects events after `position`. */
  reset(position: number): void;
  /** Discards events up to `position`, which the subscriber has read from the database. */
  skipTo(position: number): void;
  /** Whether it was offered more than its limits: the waiting events are complete, later ones are missing. */
  overflowed(): boolean;
  size(): number;
};

export type SubscriberBufferOptions = {
  readonly matches: EventMatcher;
  /** Called when the buffer has something to take or has overflowed. */
  readonly onArrival: () => void;
};

/** Creates a buffer for matching events. */
export function createSubscriberBuffer({ matches, onArrival }: SubscriberBufferOptions): SubscriberBuffer {
  let waiting: { readonly event: RecordedEvent; readonly bytes: number }[] = [];
  let bytes = 0;
  /** Every event up to this position is waiting or was taken. */
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
      const before = bytes;
      const events = drop(most);
      const position = last ? seen : Number(events.at(-1)?.position);
      if (events.length === 0 && position <= taken) return undefined;
      taken = position;
      return { events, bytes: before - bytes, position };
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
