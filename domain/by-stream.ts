import type { RecordedEvent } from './event.ts';

/** Events of each stream in their order, the streams in the order in which they first come. */
export function byStream(events: readonly RecordedEvent[]): readonly (readonly RecordedEvent[])[] {
  const runs = new Map<string, RecordedEvent[]>();
  for (const event of events) {
    const run = runs.get(event.stream);
    if (run) run.push(event);
    else runs.set(event.stream, [event]);
  }
  return [...runs.values()];
}
