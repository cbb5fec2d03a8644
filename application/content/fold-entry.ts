import type { ContentType } from '../../domain/content/content-type.ts';
import { eventWithCurrentFields } from '../../domain/content/current-fields.ts';
import { parseEntryEvent } from '../../domain/content/entry-events.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import { entryDecider } from '../../domain/content/entry.ts';
import type { Fold } from '../../domain/decider.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import { type FoldStreamInput, type StateAt, foldStream } from '../fold-stream.ts';
import type { EventStore } from '../ports/event-store.ts';

/** An entry at a revision of its stream; the state is undefined before the first event. */
export type EntryAt = StateAt<EntryState | undefined>;

/** An entry before its first event. */
export const NO_ENTRY: EntryAt = { state: undefined, revision: -1 };

export type FoldEntryInput = Pick<
  FoldStreamInput<EntryState | undefined, RecordedEvent>,
  'stream' | 'from' | 'to' | 'while'
> & {
  /** Gives the fields their current names and types. Default: the names and types at the time of each event. */
  readonly type?: ContentType | undefined;
};

/** Folds an entry's stream forwards. */
export function foldEntry(
  { type, ...input }: FoldEntryInput,
  dependencies: { readonly eventStore: Pick<EventStore, 'readStream'> },
): Promise<EntryAt> {
  return foldStream({ ...input, decider: foldOf(type), parse: (event) => event }, dependencies);
}

/**
 * The entry after one more event of its stream, as `foldEntry` folds it. For callers that need the entry before and
 * after each event.
 * @throws TypeError for an event that is not an entry's
 */
export function evolveEntry({ state }: EntryAt, event: RecordedEvent, type?: ContentType): EntryAt {
  return { state: evolve(state, event, type), revision: event.revision };
}

function foldOf(type: ContentType | undefined): Fold<EntryState | undefined, RecordedEvent> {
  return { initialState: entryDecider.initialState, evolve: (state, event) => evolve(state, event, type) };
}

function evolve(
  state: EntryState | undefined,
  recorded: RecordedEvent,
  type: ContentType | undefined,
): EntryState | undefined {
  const event = parseEntryEvent(recorded);
  if (!type) return entryDecider.evolve(state, event);
  const next = entryDecider.evolve(state, eventWithCurrentFields(type, event));
  return next?.typeId === type.id && next.schema !== type.name ? { ...next, schema: type.name } : next;
}
