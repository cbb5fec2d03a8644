import type { ContentType } from '../../domain/content/content-type.ts';
import type { TriggerEvent } from '../../domain/automation/trigger.ts';
import { triggerOf } from '../../domain/automation/trigger.ts';
import { shownValue, storedFields } from '../../domain/content/entry-fields.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import type { GlobalPosition, RecordedEvent } from '../../domain/event.ts';
import { laterOf } from '../../domain/event.ts';
import type { JsonObject } from '../../domain/json.ts';
import { parseStream } from '../../domain/stream.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { EntryHistory } from './entry-history.ts';

export type ChangesDependencies = { readonly eventStore: EventStore; readonly history: Pick<EntryHistory, 'changesOf'> };

/** Who reads: the content type of today, and the fields that the caller does not see. */
export type ChangesView = { readonly type: ContentType; readonly hidden: ReadonlySet<string> };

/**
 * One change of an entry. `data` and `old_data` are the entry after and before it, as envelopes show it, under today's names of the fields; null
 * where it was not there.
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

/** Changes as JSON texts, and the position to go on from: it moves over everything that was looked at. */
export type ChangesPage = { readonly changes: readonly string[]; readonly next: GlobalPosition };

/** Events of the tenant's entries that one page looks at, whatever their type: a page answers in time on a log of millions. */
const MOST_EXAMINED = 5_000;
/** Characters after which a page is full. */
const MOST_CHARACTERS = 4_000_000;
/** Changes whose states are in memory at a time. */
const SLICE = 25;
const BATCH = 100;

/**
 * One page of the changes of a content type's entries after a position, straight from the event store, deletions included. What only hidden fields
 * took part in is shown without them: the version has moved.
 */
export async function readChanges(
  { view, after, limit, signal }: { readonly view: ChangesView; readonly after: GlobalPosition; readonly limit: number; readonly signal: AbortSignal },
  dependencies: ChangesDependencies,
): Promise<ChangesPage> {
  const { eventStore } = dependencies;
  // Read before the events: all that lies up to here will have been looked at.
  const head = await eventStore.head();
  const changes: string[] = [];
  let characters = 0;
  let next = after;
  let examined = 0;
  let slice: RecordedEvent[] = [];
  const isFull = (): boolean => changes.length >= limit || characters >= MOST_CHARACTERS;

  async function show(): Promise<void> {
    for (const { text, position } of await presentChanges(slice, view, dependencies)) {
      if (isFull()) break;
      next = position;
      if (text === undefined) continue;
      changes.push(text);
      characters += text.length;
    }
    slice = [];
  }

  for await (const event of eventStore.readAll({ after, limit: MOST_EXAMINED, filter: entriesOf(view.type.tenant), signal })) {
    // What this process has not heard of yet belongs to a later page.
    if (isNewerThan(view, event)) {
      await show();
      return { changes, next };
    }
    examined += 1;
    if (isOf(view, event)) slice.push(event);
    if (slice.length === SLICE || changes.length + slice.length === limit) {
      await show();
      if (isFull()) return { changes, next };
    }
    if (slice.length === 0) next = laterOf(next, event.position);
  }
  const left = slice.at(-1);
  await show();
  if (left && next < left.position) return { changes, next };
  return { changes, next: examined === MOST_EXAMINED ? next : laterOf(next, head) };
}

/**
 * The changes after a position and then, without a gap or a repeat, those that come, until the signal. `viewOf` is asked again for every run of
 * changes; it gets the type's revision that their events need, and throws where the caller may not read any more.
 */
export async function* followChanges(
  { tenant, typeId, after, viewOf, signal }: { readonly tenant: string; readonly typeId: string; readonly after: GlobalPosition; readonly viewOf: (revision: number) => Promise<ChangesView>; readonly signal: AbortSignal },
  dependencies: ChangesDependencies,
): AsyncIterable<ChangesPage> {
  for await (const item of dependencies.eventStore.subscribe({ after, filter: entriesOf(tenant), batchSize: BATCH, signal })) {
    const events = item.kind === 'events' ? item.events.filter((event) => event.data['type_id'] === typeId) : [];
    for (let start = 0; start < events.length; start += SLICE) {
      const slice = events.slice(start, start + SLICE);
      const view = await viewOf(Math.max(...slice.map(revisionOf)));
      for (const { text, position } of await presentChanges(slice, view, dependencies)) yield { changes: text === undefined ? [] : [text], next: position };
    }
    yield { changes: [], next: item.position };
  }
}

function entriesOf(tenant: string): { readonly categories: readonly string[]; readonly tenant: string } {
  return { categories: ['entry'], tenant };
}

function isOf({ type }: ChangesView, event: RecordedEvent): boolean {
  return event.data['type_id'] === type.id;
}

/** Revision of the content type that an entry's event was written under. */
function revisionOf({ data }: RecordedEvent): number {
  return typeof data['type_revision'] === 'number' ? data['type_revision'] : -1;
}

function isNewerThan(view: ChangesView, event: RecordedEvent): boolean {
  return isOf(view, event) && revisionOf(event) > view.type.revision;
}

/** Without a text where nothing is known to tell: the entry's stream was cut. */
async function presentChanges(events: readonly RecordedEvent[], view: ChangesView, { history }: ChangesDependencies): Promise<readonly { readonly text?: string; readonly position: GlobalPosition }[]> {
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
    ...(entry.slug === undefined ? {} : { slug: entry.slug }),
  };
}
