import type { EntryHistory } from '../../application/content/entry-history.ts';
import { createEntryHistory } from '../../application/content/entry-history.ts';
import type { ContentTypeCatalogue } from '../../application/ports/content-type-catalogue.ts';
import type { EventStore } from '../../application/ports/event-store.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import type { Content } from './content.ts';

export type TodaysHistory = Pick<EntryHistory, 'changeOf'>;

/** The whole entry around an event, with the names and types that its fields have today; as the event names them where the content type is gone. */
export function createTodaysHistory({ eventStore, types, typeById }: { readonly eventStore: EventStore; readonly types: ContentTypeCatalogue } & Pick<Content, 'typeById'>): TodaysHistory {
  const history = createEntryHistory({ eventStore });

  async function typeOf({ data, metadata: { tenant } }: RecordedEvent): Promise<ContentType | undefined> {
    const { schema, type_id: id, type_revision: revision } = data;
    if (typeof schema !== 'string' || typeof id !== 'string' || typeof revision !== 'number') return undefined;
    // What is in memory may be older than the event, or another type of that name.
    const isFit = (type: ContentType | undefined): boolean => type?.id === id && type.tenant === tenant && type.revision >= revision;
    const named = await types.get(tenant, schema);
    if (isFit(named)) return named;
    const known = await typeById(id);
    return isFit(known) ? known : undefined;
  }

  return { changeOf: async (event) => history.changeOf(event, await typeOf(event)) };
}
