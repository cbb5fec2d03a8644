import type { StoredContentType } from '../../domain/content/content-type.ts';
import { parseEntryEvent } from '../../domain/content/parse-entry-event.ts';
import { streamName } from '../../domain/stream.ts';
import type { EventStore } from '../ports/event-store.ts';

export type TypeOfEntryDependencies = {
  readonly eventStore: EventStore;
  /** A content type by id, also one deleted with its entries kept. */
  readonly typeById: (id: string) => Promise<StoredContentType | undefined>;
};

/**
 * The content type of an entry that is known by its id alone: its stream's first event names it.
 * @returns undefined for an id that is no entry's of the tenant, and where the type is deleted
 */
export async function typeOfEntry({ tenant, id }: { readonly tenant: string; readonly id: string }, { eventStore, typeById }: TypeOfEntryDependencies): Promise<StoredContentType | undefined> {
  for await (const event of eventStore.readStream(streamName({ category: 'entry', tenant, id }), { limit: 1 })) {
    const type = await typeById(parseEntryEvent(event).data.type_id);
    return type?.tenant === tenant && !type.deleted ? type : undefined;
  }
  return undefined;
}
