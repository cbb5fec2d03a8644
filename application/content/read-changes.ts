import { type TriggerEvent, triggerOf } from '../../domain/automation/trigger.ts';
import { chunks } from '../../domain/chunks.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import { shownValue, storedFields } from '../../domain/content/entry-fields.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import { SLUG_KEY } from '../../domain/content/entry-title.ts';
import { type GlobalPosition, type RecordedEvent, laterOf } from '../../domain/event.ts';
import type { JsonObject } from '../../domain/json.ts';
import { parseStream } from '../../domain/stream.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { EntryHistory } from './entry-history.ts';

export type ChangesDependencies = {
  readonly eventStore: EventStore;
  readonly history: Pick<EntryHistory, 'changesOf'>;
};

/** The current content type, and the names of the fields hidden from the caller. */
export type ChangesView = { readonly type: ContentType; readonly hidden: ReadonlySet<string> };

/**
 * A change of an entry. `data` and `old_data` are the entry after and before it, with the current names of the fields;
 * null when the entry did not exist.
 */
export type ContentChange = {
  readonly position: GlobalPosition;
  readonly event: TriggerEvent;
  readonly entry_id: string;
  readonly version: number;
  /** RFC 3339, UTC. */
  readonly at: string;
  readonly data: JsonObject | null;
  readonly old_data: JsonObject | null;
};

/** Changes as JSON texts. `next` is the position to continue from; it moves past events that are not listed too. */
export type ChangesPage = { readonly changes: readonly string[]; readonly next: GlobalPosition };

/**
 * Maximum number of events, of any content type, that one page reads. It limits the time of a request on a long log.
 */
const MAX_EXAMINED = 5_000;
/** A page is full after this many characters. */
const MAX_CHARACTERS = 4_000_000;
/** Changes whose states are in memory at the same time. */
const SLICE = 25;
const BATCH = 100;

export type ReadChangesInput = {
  readonly view: ChangesView;
  readonly after: GlobalPosition;
  readonly limit: number;
  readonly signal: AbortSignal;
};

/**
 * Reads one page of the changes of a content type's entries after a position, from the event store. Deletions are
 * included. A change of hidden fields only is listed without them.
 */
export async function readChanges(
  { view, after, limit, signal }: ReadChangesInput,
  dependencies: ChangesDependencies,
): Promise<ChangesPage> {
  const { eventStore } = dependencies;
  // The head is read before the events, so all events up to it are included.
  const head = await eventStore.head();
  const changes: string[] = [];
  let characters = 0;
  let next = after;
  let examined = 0;
  let slice: RecordedEvent[] = [];
  const isFull = (): boolean => changes.length >= limit || characters >= MAX_CHARACTERS;

  async function flush(): Promise<void> {
    for (const { text, position } of await presentChanges(slice, view, dependencies)) {
      if (isFull()) break;
      next = position;
      if (text === undefined) continue;
      changes.push(text);
      characters += text.length;
    }
    slice = [];
  }

  for await (const event of eventStore.readAll({
    after,
    limit: MAX_EXAMINED,
    filter: entriesOf(view.type.tenant),
    signal,
  })) {
    // The content type has a newer revision than this process knows, so the event belongs to a later page.
    if (isNewerThan(view, event)) {
      await flush();
      return { changes, next };
    }
    examined += 1;
    if (isOfType(view, event)) slice.push(event);
    if (slice.length === SLICE || changes.length + slice.length === limit) {
      await flush();
      if (isFull()) return { changes, next };
    }
    if (slice.length === 0) next = laterOf(next, event.position);
  }
  const left = slice.at(-1);
  await flush();
  if (left && next < left.position) return { changes, next };
  return { changes, next: examined === MAX_EXAMINED ? next : laterOf(next, head) };
}

/**
 * Yields the changes after a position, then new changes as they happen, without gaps and repeats, until the signal is
 * aborted.
 * @param input `viewOf` is called for each run of changes with the highest revision of the content type in it. It
 *   throws when the caller may no longer read.
 */
export async function* followChanges(
  {
    tenant,
    typeId,
    after,
    viewOf,
    signal,
  }: {
    readonly tenant: string;
    readonly typeId: string;
    readonly after: GlobalPosition;
    readonly viewOf: (revision: number) => Promise<ChangesView>;
    readonly signal: AbortSignal;
  },
  dependencies: ChangesDependencies,
): AsyncIterable<ChangesPage> {
  for await (const item of dependencies.eventStore.subscribe({
    after,
    filter: entriesOf(tenant),
    batchSize: BATCH,
    signal,
  })) {
    const events = item.kind === 'events' ? item.events.filter((event) => event.data['type_id'] === typeId) : [];
    for (const slice of chunks(events, SLICE)) {
      const view = await viewOf(Math.max(...slice.map(revisionOf)));
      for (const { text, position } of await presentChanges(slice, view, dependencies))
        yield { changes: text === undefined ? [] : [text], next: position };
    }
    yield { changes: [], next: item.position };
  }
}

function entriesOf(tenant: string): { readonly categories: readonly string[]; readonly tenant: string } {
  return { categories: ['entry'], tenant };
}

function isOfType({ type }: ChangesView, event: RecordedEvent): boolean {
  return event.data['type_id'] === type.id;
}

/** Revision of the content type that an event was written under. */
function revisionOf({ data }: RecordedEvent): number {
  return typeof data['type_revision'] === 'number' ? data['type_revision'] : -1;
}

function isNewerThan(view: ChangesView, event: RecordedEvent): boolean {
  return isOfType(view, event) && revisionOf(event) > view.type.revision;
}

/** A change has no text when the beginning of the entry's stream is truncated. */
async function presentChanges(
  events: readonly RecordedEvent[],
  view: ChangesView,
  { history }: ChangesDependencies,
): Promise<readonly { readonly text?: string; readonly position: GlobalPosition }[]> {
  const changes = await history.changesOf(events, view.type);
  return events.map((event) => {
    const { position } = event;
    const change = changes.get(event);
    const trigger = triggerOf(event);
    if (!change || !trigger || !(change.before ?? change.after)) return { position };
    const shown: ContentChange = {
      position,
      event: trigger.event,
      entry_id: parseStream(event.stream)?.id ?? '',
      version: event.revision + 1,
      at: event.metadata.occurred_at,
      data: change.after ? present(view, change.after) : null,
      old_data: change.before ? present(view, change.before) : null,
    };
    return { text: JSON.stringify(shown), position };
  });
}

function present({ type, hidden }: ChangesView, entry: EntryState): JsonObject {
  const shown = storedFields(type.definition).filter(({ key }) => !hidden.has(key));
  return {
    ...Object.fromEntries(shown.map((field) => [field.key, shownValue(field, entry.fields)])),
    id: entry.id,
    ...(type.definition.with_draft_publish === true ? { status: entry.status } : {}),
    ...(entry.slug === undefined || hidden.has(SLUG_KEY) ? {} : { slug: entry.slug }),
  };
}
