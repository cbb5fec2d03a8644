import type { EntryState } from '../../domain/content/entry-state.ts';
import type { RecordedEvent, StreamRevision } from '../../domain/event.ts';
import type { EventStore } from '../ports/event-store.ts';
import { applyEvent, foldEntry, NO_ENTRY } from './fold-entry.ts';
import type { EntryAt } from './fold-entry.ts';

/** The whole entry before and after one event: undefined before it is there, and after the event that deletes it. */
export type EntryChange = { readonly before: EntryState | undefined; readonly after: EntryState | undefined };

/** Reads the past of entries out of their streams, forwards, each stream's last fold kept in a bounded cache. */
export type EntryHistory = {
  /** The entry as it stood at a revision; undefined before its first event. */
  stateAt(stream: string, revision: StreamRevision): Promise<EntryState | undefined>;
  /** The entry as it stood at a moment (RFC 3339, UTC, milliseconds; inclusive); undefined before its first event. */
  stateAtMoment(stream: string, moment: string): Promise<EntryState | undefined>;
  /** The whole entry around an event of its stream. Costs one step when a stream's events are asked for in order. */
  changeOf(event: RecordedEvent): Promise<EntryChange>;
};

/** Makes a reader of entries' pasts. `maxCachedCharacters` bounds the memory of the cached states (default about 8 million characters). */
export function createEntryHistory({ eventStore, maxCachedCharacters = 8_000_000 }: { readonly eventStore: EventStore; readonly maxCachedCharacters?: number }): EntryHistory {
  const cache = createStateCache(maxCachedCharacters);

  async function at(stream: string, revision: StreamRevision): Promise<EntryAt> {
    if (revision < 0) return NO_ENTRY;
    const known = cache.get(stream);
    const from = known !== undefined && known.revision <= revision ? known : NO_ENTRY;
    const found = await foldEntry(eventStore, stream, { from, to: revision });
    cache.set(stream, found);
    return found;
  }

  return {
    stateAt: async (stream, revision) => (await at(stream, revision)).state,
    stateAtMoment: async (stream, moment) => (await foldEntry(eventStore, stream, { while: (event) => event.metadata.occurred_at <= moment })).state,
    async changeOf(event) {
      const before = await at(event.stream, event.revision - 1);
      const after = applyEvent(before, event);
      cache.set(event.stream, after);
      return { before: living(before), after: living(after) };
    },
  };
}

function living({ state }: EntryAt): EntryState | undefined {
  return state?.deleted === true ? undefined : state;
}

/** Least recently used states by stream, bounded by their size and not their number: an entry may hold a megabyte. */
function createStateCache(maxCharacters: number) {
  const entries = new Map<string, { readonly at: EntryAt; readonly size: number }>();
  let total = 0;
  function remove(stream: string): void {
    total -= entries.get(stream)?.size ?? 0;
    entries.delete(stream);
  }
  return {
    get(stream: string): EntryAt | undefined {
      const found = entries.get(stream);
      if (!found) return undefined;
      entries.delete(stream);
      entries.set(stream, found);
      return found.at;
    },
    set(stream: string, at: EntryAt): void {
      remove(stream);
      const size = sizeOf(at);
      entries.set(stream, { at, size });
      total += size;
      for (const oldest of entries.keys()) {
        if (total <= maxCharacters) break;
        remove(oldest);
      }
    },
  };
}

/** A rough size: texts count by length, what else a field may hold by a constant or its JSON. */
function sizeOf({ state }: EntryAt): number {
  let size = 500;
  for (const value of Object.values(state?.fields ?? {})) {
    size += typeof value === 'string' ? value.length : typeof value === 'object' && value !== null ? JSON.stringify(value).length : 16;
  }
  return size;
}
