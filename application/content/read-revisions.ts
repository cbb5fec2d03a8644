import type { EntryFact } from '../../domain/content/entry.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import { shownValue, storedFields } from '../../domain/content/entry-fields.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import type { FieldValues } from '../../domain/content/events.ts';
import { parseEntryEvent } from '../../domain/content/parse-entry-event.ts';
import { sameJson } from '../../domain/content/same-json.ts';
import { factOfToday } from '../../domain/content/todays-fields.ts';
import { refusal } from '../../domain/errors.ts';
import type { Actor, RecordedEvent } from '../../domain/event.ts';
import type { Json } from '../../domain/json.ts';
import { streamName } from '../../domain/stream.ts';
import type { EntryRows } from '../ports/entry-rows.ts';
import type { EventStore } from '../ports/event-store.ts';
import { findRevision } from './find-revision.ts';
import { foldEntry } from './fold-entry.ts';
import type { RevisionWindow } from './revision-window.ts';

export type RevisionDependencies = { readonly eventStore: EventStore; readonly rows: EntryRows };

/** One revision of an entry, as its event tells it (spec 4 A, revisions). */
export type Revision = {
  /** Id of the event. */
  readonly id: string;
  readonly version: number;
  readonly action: 'create' | 'update' | 'restore' | 'publish' | 'unpublish' | 'archive' | 'unarchive' | 'delete' | 'undelete';
  readonly actor: Actor;
  readonly created_at: string;
  /** Fields written, by today's names. */
  readonly changed: readonly string[];
};

export type RevisionPage = { readonly revisions: readonly Revision[]; readonly total: number };

type EntryAddress = {
  readonly type: ContentType;
  readonly id: string;
  /** Fields that the caller does not see. */
  readonly hidden: ReadonlySet<string>;
  readonly window: RevisionWindow;
};

/** Revisions newest first, read from the stream: those of the window and the current one; `total` counts all. @throws `entry_not_found` (deleted entries too) */
export async function readRevisions({ type, id, hidden, window, limit, offset }: EntryAddress & { readonly limit: number; readonly offset: number }, dependencies: RevisionDependencies): Promise<RevisionPage> {
  const stream = streamName({ category: 'entry', tenant: type.tenant, id });
  const { version: total } = await currentEntry(type, id, dependencies);
  const revisions: Revision[] = [];
  const from = total - 1 - offset;
  if (from < 0) return { revisions, total };
  for await (const event of dependencies.eventStore.readStream(stream, { direction: 'backwards', from, limit })) {
    // Time never runs backwards within an entry: all that follow are older.
    if (!window.holds(event.metadata.occurred_at) && event.revision !== total - 1) break;
    revisions.push(toRevision(type, hidden, event));
  }
  return { revisions, total };
}

/** One revision with the field values of that moment. @throws `entry_not_found`, `revision_not_found`, `payment_required` outside the window */
export async function readRevision(
  { type, id, hidden, window, revision }: EntryAddress & { readonly revision: string },
  dependencies: RevisionDependencies,
): Promise<Revision & { readonly data: FieldValues }> {
  const current = await currentEntry(type, id, dependencies);
  const { event, state } = await revisionAt({ type, id, window, revision, current }, dependencies);
  return { ...toRevision(type, hidden, event), data: visibleFields(type, hidden, state.fields) };
}

/** What differs between two revisions, whichever is the older. @throws `entry_not_found`, `revision_not_found`, `payment_required` outside the window */
export async function diffRevisions(
  { type, id, hidden, window, from, to }: EntryAddress & { readonly from: string; readonly to: string },
  dependencies: RevisionDependencies,
): Promise<readonly { readonly field: string; readonly from: Json; readonly to: Json }[]> {
  const current = await currentEntry(type, id, dependencies);
  const before = visibleFields(type, hidden, (await revisionAt({ type, id, window, revision: from, current }, dependencies)).state.fields);
  const after = visibleFields(type, hidden, (await revisionAt({ type, id, window, revision: to, current }, dependencies)).state.fields);
  return Object.entries(after)
    .map(([field, value]) => ({ field, from: before[field] ?? null, to: value }))
    .filter((change) => !sameJson(change.from, change.to));
}

/** The entry as it stood at a moment (inclusive), however long ago: time travel is free. @throws `entry_not_found` before it existed and after its deletion (spec 4 A, time travel) */
export async function entryAsOf({ type, id, moment }: { readonly type: ContentType; readonly id: string; readonly moment: string }, { eventStore }: Pick<RevisionDependencies, 'eventStore'>): Promise<EntryState> {
  const stream = streamName({ category: 'entry', tenant: type.tenant, id });
  const { state } = await foldEntry(eventStore, stream, { type, while: (event) => event.metadata.occurred_at <= moment });
  if (!state || state.deleted || state.typeId !== type.id) throw refusal('entry_not_found');
  return state;
}

/** Values of the type's fields of today, null where there is none, without the hidden ones. */
function visibleFields(type: ContentType, hidden: ReadonlySet<string>, fields: FieldValues): FieldValues {
  return Object.fromEntries(storedFields(type.definition).filter(({ key }) => !hidden.has(key)).map((field) => [field.key, shownValue(field, fields)]));
}

async function currentEntry(type: ContentType, id: string, { rows, eventStore }: RevisionDependencies): Promise<EntryState> {
  const state = (await rows.load(type, id)) ?? (await foldEntry(eventStore, streamName({ category: 'entry', tenant: type.tenant, id }), { type })).state;
  if (!state || state.deleted || state.typeId !== type.id) throw refusal('entry_not_found');
  return state;
}

async function revisionAt(
  { type, id, window, revision, current }: Omit<EntryAddress, 'hidden'> & { readonly revision: string; readonly current: EntryState },
  { eventStore }: RevisionDependencies,
): Promise<{ readonly event: RecordedEvent; readonly state: EntryState }> {
  const stream = streamName({ category: 'entry', tenant: type.tenant, id });
  const at = await findRevision({ eventStore, stream, revision });
  if (at === undefined) throw refusal('revision_not_found');
  const { state } = await foldEntry(eventStore, stream, { type, to: at });
  if (state && state.version !== current.version && !window.holds(state.updatedAt)) throw window.refuse();
  for await (const event of eventStore.readStream(stream, { from: at, limit: 1 })) if (state) return { event, state };
  throw refusal('revision_not_found');
}

const ACTIONS = {
  EntryCreated: 'create',
  EntryFieldsChanged: 'update',
  EntryPublished: 'publish',
  EntryUnpublished: 'unpublish',
  EntryArchived: 'archive',
  EntryUnarchived: 'unarchive',
  EntryDeleted: 'delete',
  EntryUndeleted: 'undelete',
} as const satisfies Record<EntryFact['type'], Revision['action']>;

function toRevision(type: ContentType, hidden: ReadonlySet<string>, event: RecordedEvent): Revision {
  const fact = factOfToday(type, parseEntryEvent(event));
  const fields = fact.type === 'EntryCreated' || fact.type === 'EntryFieldsChanged' ? fact.data.fields : {};
  const restored = fact.type === 'EntryFieldsChanged' && fact.data.restored_version !== undefined;
  return {
    id: event.id,
    version: event.revision + 1,
    action: restored ? 'restore' : ACTIONS[fact.type],
    actor: fact.actor,
    created_at: fact.at,
    changed: Object.keys(fields).filter((field) => !hidden.has(field)),
  };
}
