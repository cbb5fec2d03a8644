import type { ContentType } from '../../domain/content/content-type.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import type { Moment } from '../../domain/content/moment.ts';
import { streamName } from '../../domain/stream.ts';
import type { EventStore } from '../ports/event-store.ts';
import { applyEvent, foldEntry, NO_ENTRY } from './fold-entry.ts';

/** An entry at a moment, under today's field names and types; undefined where it was not there. What soft delete kept then is there, as deleted. */
export type PastState = (type: ContentType, id: string, moment: Moment) => Promise<EntryState | undefined>;

/** Reads entries at moments from their streams. */
export function createPastState({ eventStore }: { readonly eventStore: EventStore }): PastState {
  return async (type, id, moment) => {
    const stream = streamName({ category: 'entry', tenant: type.tenant, id });
    const state = 'time' in moment ? (await foldEntry(eventStore, stream, { type, while: (event) => event.metadata.occurred_at <= moment.time })).state : await placeOf(stream, type, moment.position);
    return state?.typeId !== type.id || (state.deleted && !state.deletedSoftly) ? undefined : state;
  };

  /** At the position; else as it was when it came, or came back, after it. */
  async function placeOf(stream: string, type: ContentType, position: string): Promise<EntryState | undefined> {
    let at = NO_ENTRY;
    for await (const event of eventStore.readStream(stream)) {
      if (event.position > position && at.state?.deleted === false) break;
      at = applyEvent(at, event, type);
    }
    return at.state?.deleted === false ? at.state : undefined;
  }
}
