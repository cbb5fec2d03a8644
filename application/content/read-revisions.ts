import type { ContentType } from '../../domain/content/content-type.ts';
import { eventWithCurrentFields } from '../../domain/content/current-fields.ts';
import { type AttributedEntryEvent, type FieldValues, parseEntryEvent } from '../../domain/content/entry-events.ts';
import { shownValue, storedFields } from '../../domain/content/entry-fields.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import { sameJson } from '../../domain/content/same-json.ts';
import { refusal } from '../../domain/errors.ts';
import type { Actor, RecordedEvent, StreamRevision } from '../../domain/event.ts';
import type { Json } from '../../domain/json.ts';
import { ownValue } from '../../domain/own-value.ts';
import { streamName } from '../../domain/stream.ts';
import type { EntryRows } from '../ports/entry-rows.ts';
import type { EventStore } from '../ports/event-store.ts';
import { findRevision } from './find-revision.ts';
import { type EntryAt, NO_ENTRY, foldEntry } from './fold-entry.ts';
import { createPastState } from './past-state.ts';
import type { RevisionWindow } from './revision-window.ts';

export type RevisionDependencies = { readonly eventStore: EventStore; readonly entryRows: EntryRows };

/** One revision of an entry. */
export type Revision = {
  /** Id of the event. */
  readonly id: string;
  readonly version: number;
  readonly action:
    'create' | 'update' | 'restore' | 'publish' | 'unpublish' | 'archive' | 'unarchive' | 'delete' | 'undelete';
  readonly actor: Actor;
  readonly created_at: string;
  /** Fields that were written, by their current names. */
  readonly changed: readonly string[];
};

export type RevisionPage = { readonly revisions: readonly Revision[]; readonly total: number };

type EntryAddress = {
  readonly type: ContentType;
  readonly id: string;
  /** Names of the fields hidden from the caller. */
  readonly hidden: ReadonlySet<string>;
  readonly window: RevisionWindow;
};

/**
 * Reads revisions from the stream, newest first: those in the window, and the current one. `total` counts all
 * revisions.
 * @throws `entry_not_found`, also for a deleted entry
 */
export async function readRevisions(
  { type, id, hidden, window, limit, offset }: EntryAddress & { readonly limit: number; readonly offset: number },
  dependencies: RevisionDependencies,
): Promise<RevisionPage> {
  const stream = streamName({ category: 'entry', tenant: type.tenant, id });
  const { version: total } = await currentEntry({ type, id }, dependencies);
  const revisions: Revision[] = [];
  const from = total - 1 - offset;
  if (from < 0) return { revisions, total };
  for await (const event of dependencies.eventStore.readStream(stream, { direction: 'backwards', from, limit })) {
    // Times never decrease within an entry, so all that follow are older.
    if (!window.holds(event.metadata.occurred_at) && event.revision !== total - 1) break;
    revisions.push(toRevision(type, hidden, event));
  }
  return { revisions, total };
}

/**
 * Reads one revision with the field values at that time.
 * @throws `entry_not_found`, `revision_not_found`, `payment_required` outside the window
 */
export async function readRevision(
  { type, id, hidden, window, revision }: EntryAddress & { readonly revision: string },
  dependencies: RevisionDependencies,
): Promise<Revision & { readonly data: FieldValues }> {
  const stream = streamName({ category: 'entry', tenant: type.tenant, id });
  const current = await currentEntry({ type, id }, dependencies);
  const at = await findRevision({ stream, revision }, dependencies);
  const { event, state } = await revisionAt({ type, id, window, current, at, from: NO_ENTRY }, dependencies);
  return { ...toRevision(type, hidden, event), data: visibleFields(type, hidden, state.fields) };
}

/**
 * Lists the differences between two revisions, in either order. The stream is folded once, up to the later of the two.
 * @throws `entry_not_found`, `revision_not_found`, `payment_required` outside the window
 */
export async function diffRevisions(
  { type, id, hidden, window, from, to }: EntryAddress & { readonly from: string; readonly to: string },
  dependencies: RevisionDependencies,
): Promise<readonly { readonly field: string; readonly from: Json; readonly to: Json }[]> {
  const stream = streamName({ category: 'entry', tenant: type.tenant, id });
  const current = await currentEntry({ type, id }, dependencies);
  const fromAt = await findRevision({ stream, revision: from }, dependencies);
  const toAt = await findRevision({ stream, revision: to }, dependencies);
  const earlier =
    fromAt === undefined
      ? NO_ENTRY
      : await foldEntry({ stream, type, to: Math.min(fromAt, toAt ?? fromAt) }, dependencies);
  const fieldsAt = async (at: StreamRevision | undefined): Promise<FieldValues> => {
    const { state } = await revisionAt({ type, id, window, current, at, from: earlier }, dependencies);
    return visibleFields(type, hidden, state.fields);
  };
  const before = await fieldsAt(fromAt);
  const after = await fieldsAt(toAt);
  return Object.entries(after)
    .map(([field, value]) => ({ field, from: ownValue(before, field) ?? null, to: value }))
    .filter((change) => !sameJson(change.from, change.to));
}

/**
 * Reads an entry at a point in time (inclusive). This needs no license for any point in time.
 * @throws `entry_not_found` before it existed and after its deletion
 */
export async function entryAsOf(
  { type, id, moment }: { readonly type: ContentType; readonly id: string; readonly moment: string },
  { eventStore }: Pick<RevisionDependencies, 'eventStore'>,
): Promise<EntryState> {
  const state = await createPastState({ eventStore })(type, id, { time: moment });
  if (!state || state.deleted) throw refusal('entry_not_found');
  return state;
}

/** Values of the current fields without the hidden ones; null for a field without a value. */
function visibleFields(type: ContentType, hidden: ReadonlySet<string>, fields: FieldValues): FieldValues {
  return Object.fromEntries(
    storedFields(type.definition)
      .filter(({ key }) => !hidden.has(key))
      .map((field) => [field.key, shownValue(field, fields)]),
  );
}

async function currentEntry(
  { type, id }: Pick<EntryAddress, 'type' | 'id'>,
  { entryRows, eventStore }: RevisionDependencies,
): Promise<EntryState> {
  const state =
    (await entryRows.load(type, id)) ??
    (await foldEntry({ stream: streamName({ category: 'entry', tenant: type.tenant, id }), type }, { eventStore }))
      .state;
  if (!state || state.deleted || state.typeId !== type.id) throw refusal('entry_not_found');
  return state;
}

type RevisionAtInput = Omit<EntryAddress, 'hidden'> & {
  readonly current: EntryState;
  /** Undefined when the stream has no such revision. */
  readonly at: StreamRevision | undefined;
  /** The entry at an earlier revision, or at this one; the fold continues from it. */
  readonly from: EntryAt;
};

async function revisionAt(
  { type, id, window, current, at, from }: RevisionAtInput,
  { eventStore }: RevisionDependencies,
): Promise<{ readonly event: RecordedEvent; readonly state: EntryState }> {
  if (at === undefined) throw refusal('revision_not_found');
  const stream = streamName({ category: 'entry', tenant: type.tenant, id });
  const { state } = await foldEntry({ stream, type, from, to: at }, { eventStore });
  if (state && state.version !== current.version && !window.holds(state.updatedAt)) throw window.refusal();
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
} as const satisfies Record<AttributedEntryEvent['type'], Revision['action']>;

function toRevision(type: ContentType, hidden: ReadonlySet<string>, event: RecordedEvent): Revision {
  const current = eventWithCurrentFields(type, parseEntryEvent(event));
  const fields = current.type === 'EntryCreated' || current.type === 'EntryFieldsChanged' ? current.data.fields : {};
  const restored = current.type === 'EntryFieldsChanged' && current.data.restored_version !== undefined;
  return {
    id: event.id,
    version: event.revision + 1,
    action: restored ? 'restore' : ACTIONS[current.type],
    actor: current.actor,
    created_at: current.at,
    changed: Object.keys(fields).filter((field) => !hidden.has(field)),
  };
}
