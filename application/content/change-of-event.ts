import type { ContentType } from '../../domain/content/content-type.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import type { ContentTypeDirectory } from '../ports/content-type-directory.ts';
import type { EventStore } from '../ports/event-store.ts';
import { type ChangeOf, createEntryHistory } from './entry-history.ts';

export type ChangeOfDependencies = {
  /** Reads a content type from the read model; undefined when it does not exist any more. */
  readonly typeById: (id: string) => Promise<ContentType | undefined>;
  readonly eventStore: EventStore;
  readonly types: ContentTypeDirectory;
};

/**
 * The state of an entry before and after an event, under the current names and types of its fields. When the content
 * type no longer exists, the fields keep the names that the event gives them.
 */
export function createChangeOf({ eventStore, types, typeById }: ChangeOfDependencies): ChangeOf {
  const history = createEntryHistory({ eventStore });

  async function typeOf({ data, metadata: { tenant } }: RecordedEvent): Promise<ContentType | undefined> {
    const { schema, type_id: id, type_revision: revision } = data;
    if (typeof schema !== 'string' || typeof id !== 'string' || typeof revision !== 'number') return undefined;
    // The content type in memory may be older than the event, or may be a different one that has taken over the name.
    const fits = (type: ContentType | undefined): boolean =>
      type?.id === id && type.tenant === tenant && type.revision >= revision;
    const typeOfName = await types.get(tenant, schema);
    if (fits(typeOfName)) return typeOfName;
    const typeOfId = await typeById(id);
    return fits(typeOfId) ? typeOfId : undefined;
  }

  return async (event) => history.changeOf(event, await typeOf(event));
}
