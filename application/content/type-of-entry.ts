import type { StoredContentType } from '../../domain/content/content-type.ts';
import { parseEntryEvent } from '../../domain/content/entry-events.ts';
import { streamName } from '../../domain/stream.ts';
import type { EventStore } from '../ports/event-store.ts';

export type TypeOfEntryDependencies = {
  readonly eventStore: EventStore;
  /** A content type by id, also a deleted one whose entries are kept. */
  readonly typeById: (id: string) => Promise<StoredContentType | undefined>;
};

/**
 * Finds the content type of an entry by the entry's id. The first event of the stream names it.
 * @returns undefined when the tenant has no such entry, or its content type is deleted
 */
export async function typeOfEntry(
  { tenant, id }: { readonly tenant: string; readonly id: string },
  { eventStore, typeById }: TypeOfEntryDependencies,
): Promise<StoredContentType | undefined> {
  for await (const event of eventStore.readStream(streamName({ category: 'entry', tenant, id }), { limit: 1 })) {
    const type = await typeById(parseEntryEvent(event).data.type_id);
    return type?.tenant === tenant && !type.deleted ? type : undefined;
  }
  return undefined;
}
