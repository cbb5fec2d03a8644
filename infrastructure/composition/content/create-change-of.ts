import { type ChangeOf, createEntryHistory } from '../../../application/content/entry-history.ts';
import type { ContentTypeDirectory } from '../../../application/ports/content-type-directory.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import type { ContentType } from '../../../domain/content/content-type.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import type { OpenContent } from './open-content.ts';

export type ChangeOfDependencies = Pick<OpenContent, 'typeById'> & {
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
    const named = await types.get(tenant, schema);
    if (fits(named)) return named;
    const known = await typeById(id);
    return fits(known) ? known : undefined;
  }

  return async (event) => history.changeOf(event, await typeOf(event));
}
