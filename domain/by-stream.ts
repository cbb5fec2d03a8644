import type { RecordedEvent } from './event.ts';

/** Groups events by stream. Events keep their order; the streams are in the order of their first event. */
export function byStream(events: readonly RecordedEvent[]): readonly (readonly RecordedEvent[])[] {
  const streams = new Map<string, RecordedEvent[]>();
  for (const event of events) {
    const group = streams.get(event.stream);
    if (group) group.push(event);
    else streams.set(event.stream, [event]);
  }
  return [...streams.values()];
}
