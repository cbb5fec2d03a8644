import { entryDecider } from '../../domain/content/entry.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import { parseEntryEvent } from '../../domain/content/parse-entry-event.ts';
import { factOfToday } from '../../domain/content/todays-fields.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import type { StateAt } from '../handle-command.ts';
import type { EventStore } from '../ports/event-store.ts';

/** An entry at a revision of its stream; undefined before the first event. */
export type EntryAt = StateAt<EntryState | undefined>;

/** Before the first event. */
export const NO_ENTRY: EntryAt = { state: undefined, revision: -1 };

export type FoldOptions = {
  /** Where the fold goes on from. Default: the beginning. */
  readonly from?: EntryAt;
  /** Names and types the fields as they are today. Default: as each event names them. */
  readonly type?: ContentType;
  /** Last revision folded. Default: the end. */
  readonly to?: number;
  /** Ends the fold before the first event of which it says false. */
  readonly while?: (event: RecordedEvent) => boolean;
};

/** Folds an entry's stream forwards. */
export async function foldEntry(eventStore: EventStore, stream: string, options: FoldOptions = {}): Promise<EntryAt> {
  let at = options.from ?? NO_ENTRY;
  if (options.to !== undefined && at.revision >= options.to) return at;
  const limit = options.to === undefined ? {} : { limit: options.to - at.revision };
  for await (const event of eventStore.readStream(stream, { from: at.revision + 1, ...limit })) {
    if (options.while && !options.while(event)) break;
    at = applyEvent(at, event, options.type);
  }
  return at;
}

/** The entry after one more event; with a type under its name. */
export function applyEvent({ state }: EntryAt, event: RecordedEvent, type?: ContentType): EntryAt {
  const fact = parseEntryEvent(event);
  if (!type) return { state: entryDecider.evolve(state, fact), revision: event.revision };
  const next = entryDecider.evolve(state, factOfToday(type, fact));
  return { state: next?.typeId === type.id && next.schema !== type.name ? { ...next, schema: type.name } : next, revision: event.revision };
}
