import { byStream } from '../../domain/by-stream.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import type { RecordedEvent, StreamRevision } from '../../domain/event.ts';
import { inParallel } from '../concurrency/in-parallel.ts';
import type { EventStore } from '../ports/event-store.ts';
import { type EntryAt, NO_ENTRY, evolveEntry, foldEntry } from './fold-entry.ts';
import { type LastStep, createStateCache } from './state-cache.ts';

/** The whole entry before and after one event: undefined before its creation and after its deletion. */
export type EntryChange = { readonly before: EntryState | undefined; readonly after: EntryState | undefined };

/** The change of an entry that an event made, with current names of fields and content types where known. */
export type ChangeOf<Change = EntryChange> = (event: RecordedEvent) => Promise<Change>;

/**
 * Reads the history of entries from their streams. The last step of each stream is kept in a bounded cache. With a
 * `type`, fields have its names and types; it must be as new as the events. Without one, they have the names and types
 * at the time of each event.
 */
export type EntryHistory = {
  /**
   * The whole entry around an event of its stream. Costs one step when the events of a stream are read in order, and
   * nothing for the same event again.
   */
  changeOf(event: RecordedEvent, type?: ContentType): Promise<EntryChange>;
  /** The same for a run of events. Different entries are read in parallel; the result does not depend on the cache. */
  changesOf(events: readonly RecordedEvent[], type?: ContentType): Promise<ReadonlyMap<RecordedEvent, EntryChange>>;
};

/** Entries whose streams are read at the same time. */
const PARALLEL_ENTRIES = 8;

/**
 * Makes a reader of entry histories.
 * @param maxCachedCharacters Maximum size of the cached states in characters. Default: 8 million.
 */
export function createEntryHistory({
  eventStore,
  maxCachedCharacters = 8_000_000,
}: {
  readonly eventStore: EventStore;
  readonly maxCachedCharacters?: number;
}): EntryHistory {
  const cache = createStateCache({ maxCharacters: maxCachedCharacters });

  async function at(stream: string, revision: StreamRevision, type?: ContentType): Promise<EntryAt> {
    if (revision < 0) return NO_ENTRY;
    const cached = cache.get(cacheKey(stream, type));
    const from =
      [cached?.after, cached?.before].find((state) => state !== undefined && state.revision <= revision) ?? NO_ENTRY;
    return foldEntry({ stream, type, from, to: revision }, { eventStore });
  }

  async function step(event: RecordedEvent, type: ContentType | undefined, last?: EntryAt): Promise<LastStep> {
    const cached = cache.get(cacheKey(event.stream, type));
    if (cached?.after.revision === event.revision) return cached;
    const before = last?.revision === event.revision - 1 ? last : await at(event.stream, event.revision - 1, type);
    const after = evolveEntry(before, event, type);
    cache.set(cacheKey(event.stream, type), { before, after });
    return { before, after };
  }

  return {
    changeOf: async (event, type) => toChange(await step(event, type)),
    async changesOf(events, type) {
      const changes = new Map<RecordedEvent, EntryChange>();
      await inParallel(byStream(events), PARALLEL_ENTRIES, async (run) => {
        let last: EntryAt | undefined;
        for (const event of run) {
          const made = await step(event, type, last);
          changes.set(event, toChange(made));
          last = made.after;
        }
      });
      return changes;
    },
  };
}

/** States with different field names need different keys. */
function cacheKey(stream: string, type: ContentType | undefined): string {
  return type ? `${type.revision} ${stream}` : stream;
}

function toChange({ before, after }: LastStep): EntryChange {
  return { before: liveState(before), after: liveState(after) };
}

function liveState(at: EntryAt | undefined): EntryState | undefined {
  return at?.state?.deleted === true ? undefined : at?.state;
}
