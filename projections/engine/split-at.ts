import type { RecordedEvent } from '../../domain/event.ts';

/**
 * Cuts a batch into runs of events in their order. An event for which `isBoundary` holds is a run of its own, so that
 * the events before it are applied before it and the events after it are applied after it.
 */
export function splitAt(
  events: readonly RecordedEvent[],
  isBoundary: (event: RecordedEvent) => boolean,
): readonly (readonly RecordedEvent[])[] {
  const runs: RecordedEvent[][] = [];
  let open: RecordedEvent[] | undefined;
  for (const event of events) {
    if (isBoundary(event)) {
      runs.push([event]);
      open = undefined;
    } else if (open) open.push(event);
    else runs.push((open = [event]));
  }
  return runs;
}
