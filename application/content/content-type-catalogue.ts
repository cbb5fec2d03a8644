import QuickLRU from 'quick-lru';
import type { ContentType } from '../../domain/content/content-type.ts';
import { changedName, isContentTypeEvent } from '../../domain/content/content-type.ts';
import { TYPE_NAME } from '../../domain/content/content-type-parser.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { ContentTypeCatalogue } from '../ports/content-type-catalogue.ts';
import type { EventStore } from '../ports/event-store.ts';

export type CachedCatalogue = ContentTypeCatalogue & {
  /**
   * A change of this content type, without a name of any of the tenant's, is a fact at `position`: what is in memory holds until the read model
   * has come that far.
   */
  changed(tenant: string, name: string | undefined, position: GlobalPosition): void;
  /** Follows the changes that other processes make, until the signal; ends without an error then. */
  follow(eventStore: Pick<EventStore, 'subscribe'>, signal: AbortSignal): Promise<void>;
  /** Forgets everything (a rebuilt read model has been swapped in). */
  clear(): void;
};

export type CatalogueOptions = {
  /** Reads one live content type from the read model. */
  readonly load: (tenant: string, name: string) => Promise<ContentType | undefined>;
  /** Where the read model `content` stands. */
  readonly position: () => GlobalPosition;
};

/** `stale`: positions from which on the item no longer holds, any order. */
type Item = { readonly loading: Promise<ContentType | undefined>; stale: readonly GlobalPosition[] };

/** Names in memory; also those that are no content type, which anyone can make up. */
const MAX_ITEMS = 10_000;

/** The catalogue over the read model. Absent types are remembered too, so that a wrong name costs no query each time. */
export function createContentTypeCatalogue({ load, position }: CatalogueOptions): CachedCatalogue {
  const items = new QuickLRU<string, Item>({ maxSize: MAX_ITEMS });
  /** Changes that the read model has not reached, also of names that nobody has asked for yet. */
  const coming = new Map<string, readonly GlobalPosition[]>();

  function current(tenant: string, name: string): Item {
    const key = `${tenant}/${name}`;
    const known = items.get(key);
    const now = position();
    if (known?.stale.every((from) => now < from) === true) return known;
    const news = [...(coming.get(key) ?? []), ...(coming.get(everyName(tenant)) ?? [])];
    const item: Item = { loading: load(tenant, name), stale: news.filter((from) => now < from) };
    items.set(key, item);
    item.loading.catch(() => {
      if (items.get(key) === item) items.delete(key);
    });
    return item;
  }

  function changed(tenant: string, name: string | undefined, at: GlobalPosition): void {
    const key = name === undefined ? everyName(tenant) : `${tenant}/${name}`;
    const now = position();
    for (const [other, positions] of coming) if (positions.every((from) => from <= now)) coming.delete(other);
    coming.set(key, [...(coming.get(key) ?? []), at]);
    const touched = name === undefined ? [...items].filter(([other]) => other.startsWith(key)).map(([, item]) => item) : [items.get(key)];
    // The read may have begun before the change and end after it, so it is marked too.
    for (const item of touched) if (item && !item.stale.includes(at)) item.stale = [...item.stale, at];
  }

  return {
    get: (tenant, name) => (TYPE_NAME.test(name) ? current(tenant, name).loading : Promise.resolve(undefined)),
    changed,
    clear: () => {
      items.clear();
    },
    async follow(eventStore, signal) {
      // From where the read model stands: what it has not applied yet must be heard of. What was read before may have missed a change.
      const after = position();
      items.clear();
      for await (const item of eventStore.subscribe({ after, filter: { categories: ['content_type'] }, signal })) {
        if (item.kind !== 'events') continue;
        for (const event of item.events.filter(isContentTypeEvent)) changed(event.metadata.tenant, changedName(event), event.position);
      }
    },
  };
}

/** Stands for all names of a tenant; no content type has the empty one. */
function everyName(tenant: string): string {
  return `${tenant}/`;
}
