import type { SubscriptionItem } from '../../application/ports/event-store.ts';
import type { GlobalPosition, RecordedEvent } from '../../domain/event.ts';

type EventsItem = Extract<SubscriptionItem, { kind: 'events' }>;

/**
 * Creates a function that receives the items of a subscription in order and returns items that end where an append
 * ends: the first events of an append are kept until its last ones have arrived, or were passed by the filter.
 */
export function createAppendJoiner(): (item: SubscriptionItem) => readonly SubscriptionItem[] {
  let open: EventsItem | undefined;

  function endOfOpen(): GlobalPosition | undefined {
    return open?.events.at(-1)?.append_end;
  }

  return (item) => {
    const end = endOfOpen();
    if (item.kind !== 'events') {
      if (!open) return [item];
      if (end !== undefined && item.position < end) return [];
      const complete = open;
      open = undefined;
      return [complete, item];
    }
    const joined = open ? { ...item, events: [...open.events, ...item.events], bytes: open.bytes + item.bytes } : item;
    const rest = indexOfOpenAppend(joined);
    open = rest < 0 ? undefined : partOf(joined, rest, joined.events.length);
    if (rest < 0) return [joined];
    return rest === 0 ? [] : [partOf(joined, 0, rest)];
  };
}

/** Index of the first event of an append whose last events have not arrived; -1 when there is none. */
function indexOfOpenAppend({ events, position }: EventsItem): number {
  const end = events.at(-1)?.append_end;
  return end === undefined || position >= end ? -1 : events.findIndex((event) => event.append_end === end);
}

/** The events from `start` up to `end`, exclusive. The position is that of the last one when others follow. */
export function partOf(item: EventsItem, start: number, end: number): EventsItem {
  const events = item.events.slice(start, end);
  return {
    kind: 'events',
    events,
    bytes: (item.bytes * events.length) / item.events.length,
    position: end < item.events.length ? (events.at(-1)?.position ?? item.position) : item.position,
  };
}

/** Whether an append ends between the event at the index and the one before it. */
export function isBetweenAppends(events: readonly RecordedEvent[], index: number): boolean {
  const [before, after] = [events[index - 1], events[index]];
  return !before?.append_end || !after || after.position > before.append_end;
}
