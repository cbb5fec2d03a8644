import type { ContentType } from '../../domain/content/content-type.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import type { RecordedEvent, StreamRevision } from '../../domain/event.ts';
import { byStream } from '../../domain/by-stream.ts';
import { inParallel } from '../in-parallel.ts';
import type { EventStore } from '../ports/event-store.ts';
import { applyEvent, foldEntry, NO_ENTRY } from './fold-entry.ts';
import type { EntryAt } from './fold-entry.ts';
import { createStateCache } from './state-cache.ts';
import type { LastStep } from './state-cache.ts';

/** The whole entry before and after one event: undefined before it is there, and after the event that deletes it. */
export type EntryChange = { readonly before: EntryState | undefined; readonly after: EntryState | undefined };

/**
 * Reads the past of entries out of their streams, forwards, each stream's last step kept in a bounded cache. With a `type` fields have its names
 * and types, which are today's; it must be no older than the events. Without one they are as each event names them.
 */
export type EntryHistory = {
  /** The whole entry around an event of its stream. Costs one step when a stream's events are asked for in order, and none for who asks again for the last. */
  changeOf(event: RecordedEvent, type?: ContentType): Promise<EntryChange>;
  /** The same for a run of the log, different entries side by side; each entry's steps don't depend on what the cache holds. */
  changesOf(events: readonly RecordedEvent[], type?: ContentType): Promise<ReadonlyMap<RecordedEvent, EntryChange>>;
};

/** Entries whose streams are read at the same time. */
const PARALLEL_ENTRIES = 8;

/** Makes a reader of entries' pasts. `maxCachedCharacters` bounds the memory of the cached states (default about 8 million characters). */
export function createEntryHistory({ eventStore, maxCachedCharacters = 8_000_000 }: { readonly eventStore: EventStore; readonly maxCachedCharacters?: number }): EntryHistory {
  const cache = createStateCache(maxCachedCharacters);

  async function at(stream: string, revision: StreamRevision, type?: ContentType): Promise<EntryAt> {
    if (revision < 0) return NO_ENTRY;
    const known = cache.get(keyOf(stream, type));
    const from = [known?.after, known?.before].find((state) => state !== undefined && state.revision <= revision) ?? NO_ENTRY;
    return foldEntry(eventStore, stream, { from, to: revision, ...(type ? { type } : {}) });
  }

  async function step(event: RecordedEvent, type: ContentType | undefined, last?: EntryAt): Promise<LastStep> {
    const known = cache.get(keyOf(event.stream, type));
    if (known?.after.revision === event.revision) return known;
    const before = last?.revision === event.revision - 1 ? last : await at(event.stream, event.revision - 1, type);
    const after = applyEvent(before, event, type);
    cache.set(keyOf(event.stream, type), { before, after });
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

/** States under different names of the fields are different states. */
function keyOf(stream: string, type: ContentType | undefined): string {
  return type ? `${type.revision} ${stream}` : stream;
}

function toChange({ before, after }: LastStep): EntryChange {
  return { before: living(before), after: living(after) };
}

function living(at: EntryAt | undefined): EntryState | undefined {
  return at?.state?.deleted === true ? undefined : at?.state;
}
