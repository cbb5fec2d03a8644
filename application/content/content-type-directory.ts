import QuickLRU from 'quick-lru';
import { changedName, contentTypeEvents } from '../../domain/content/content-type-events.ts';
import { TYPE_NAME } from '../../domain/content/content-type-parser.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { ContentTypeDirectory } from '../ports/content-type-directory.ts';
import type { EventStore } from '../ports/event-store.ts';

export type CachedContentTypeDirectory = ContentTypeDirectory & {
  /**
   * Notifies the directory of a change at `position`. Cached types are used until the read model has reached the
   * position.
   * @param name Undefined when any content type of the tenant may have changed.
   */
  changed(tenant: string, name: string | undefined, position: GlobalPosition): void;
  /** Follows the changes that other processes make, until the signal is aborted. */
  follow(eventStore: Pick<EventStore, 'subscribe'>, signal: AbortSignal): Promise<void>;
  /** Clears the cache, after a rebuilt read model was swapped in. */
  clear(): void;
};

export type ContentTypeDirectoryOptions = {
  /** Reads a live content type from the read model. */
  readonly load: (tenant: string, name: string) => Promise<ContentType | undefined>;
  /** Position of the read model `content`. */
  readonly position: () => GlobalPosition;
};

/** `stale`: positions of later changes; the item is outdated when the read model has reached one of them. */
type Item = { readonly loading: Promise<ContentType | undefined>; stale: readonly GlobalPosition[] };

/** Maximum number of names in the cache. Unknown names count too, because clients can request any name. */
const MAX_ITEMS = 10_000;

/**
 * The directory of content types, cached over the read model. Unknown names are cached too, so repeated requests for
 * them run no query.
 */
export function createContentTypeDirectory({
  load,
  position,
}: ContentTypeDirectoryOptions): CachedContentTypeDirectory {
  const items = new QuickLRU<string, Item>({ maxSize: MAX_ITEMS });
  /** Positions of changes that the read model has not reached, by name, also for names that are not in the cache. */
  const upcoming = new Map<string, readonly GlobalPosition[]>();

  function current(tenant: string, name: string): Item {
    const key = `${tenant}/${name}`;
    const cached = items.get(key);
    const now = position();
    if (cached?.stale.every((from) => now < from) === true) return cached;
    const later = [...(upcoming.get(key) ?? []), ...(upcoming.get(allNamesKey(tenant)) ?? [])];
    const item: Item = { loading: load(tenant, name), stale: later.filter((from) => now < from) };
    items.set(key, item);
    item.loading.catch(() => {
      if (items.get(key) === item) items.delete(key);
    });
    return item;
  }

  function changed(tenant: string, name: string | undefined, at: GlobalPosition): void {
    const key = name === undefined ? allNamesKey(tenant) : `${tenant}/${name}`;
    const now = position();
    for (const [other, positions] of upcoming) if (positions.every((from) => from <= now)) upcoming.delete(other);
    upcoming.set(key, [...(upcoming.get(key) ?? []), at]);
    const touched =
      name === undefined
        ? [...items].filter(([other]) => other.startsWith(key)).map(([, item]) => item)
        : [items.get(key)];
    // A read in progress may have begun before the change, so it is marked too.
    for (const item of touched) if (item && !item.stale.includes(at)) item.stale = [...item.stale, at];
  }

  return {
    get: (tenant, name) => (TYPE_NAME.test(name) ? current(tenant, name).loading : Promise.resolve(undefined)),
    changed,
    clear: () => {
      items.clear();
    },
    async follow(eventStore, signal) {
      // Start at the read model's position, so no later change is missed. The cached types may miss an earlier one.
      const after = position();
      items.clear();
      for await (const item of eventStore.subscribe({ after, filter: { categories: ['content_type'] }, signal })) {
        if (item.kind !== 'events') continue;
        for (const event of item.events)
          if (contentTypeEvents.includes(event)) changed(event.metadata.tenant, changedName(event), event.position);
      }
    },
  };
}

/** Key for all names of a tenant. No content type has an empty name. */
function allNamesKey(tenant: string): string {
  return `${tenant}/`;
}
