import type { ContentType } from '../../domain/content/content-type.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import type { PointInTime } from '../../domain/content/point-in-time.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { streamName } from '../../domain/stream.ts';
import type { EventStore } from '../ports/event-store.ts';
import { NO_ENTRY, evolveEntry, foldEntry } from './fold-entry.ts';

/**
 * Reads an entry at a point in time, with the current names and types of its fields. A soft-deleted entry is returned
 * with `deleted: true`.
 * @returns undefined when the entry did not exist
 */
export type PastState = (type: ContentType, id: string, pointInTime: PointInTime) => Promise<EntryState | undefined>;

/** Reads entries at points in time from their streams. */
export function createPastState({ eventStore }: { readonly eventStore: EventStore }): PastState {
  return async (type, id, pointInTime) => {
    const stream = streamName({ category: 'entry', tenant: type.tenant, id });
    const state =
      'time' in pointInTime
        ? await stateAtTime({ stream, type, time: pointInTime.time })
        : await stateAtPosition({ stream, type, position: pointInTime.position });
    return state?.typeId !== type.id || (state.deleted && !state.deletedSoftly) ? undefined : state;
  };

  async function stateAtTime({
    stream,
    type,
    time,
  }: {
    readonly stream: string;
    readonly type: ContentType;
    readonly time: string;
  }): Promise<EntryState | undefined> {
    const isInTime = (event: { readonly metadata: { readonly occurred_at: string } }): boolean =>
      event.metadata.occurred_at <= time;
    return (await foldEntry({ stream, type, while: isInTime }, { eventStore })).state;
  }

  /**
   * The state at the position. An entry that did not exist then is returned as it was created, or undeleted, after it.
   */
  async function stateAtPosition({
    stream,
    type,
    position,
  }: {
    readonly stream: string;
    readonly type: ContentType;
    readonly position: GlobalPosition;
  }): Promise<EntryState | undefined> {
    let at = NO_ENTRY;
    for await (const event of eventStore.readStream(stream)) {
      if (event.position > position && at.state?.deleted === false) break;
      at = evolveEntry(at, event, type);
    }
    return at.state?.deleted === false ? at.state : undefined;
  }
}
