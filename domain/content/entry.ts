import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import type { Actor } from '../event.ts';
import type { JsonObject } from '../json.ts';
import type { ContentTypeDefinition } from './definition.ts';
import { shownValue, storedFields } from './entry-fields.ts';
import type { EntryState } from './entry-state.ts';
import { checkChangedValues, checkNewValues } from './entry-values.ts';
import type { EntryEvent, EntryEventBase, EntryStatus, FieldValues, WholeEntry } from './events.ts';
import { sameJson } from './same-json.ts';

/** An entry's event together with what its metadata and stream say: enough to fold a state from. */
export type EntryFact = EntryEvent & { readonly entryId: string; readonly at: string; readonly actor: Actor };

/** Folds an entry; undefined before its first event. A deleted entry keeps its last values (spec 5, rule 2: the stream stays). */
export const entryDecider: Decider<EntryState | undefined, EntryFact> = { initialState: () => undefined, evolve };

/** What every decision knows: the type of today and who acts when. */
export type EntryCommand = {
  readonly entryId: string;
  readonly typeId: string;
  readonly typeRevision: number;
  readonly definition: ContentTypeDefinition;
  readonly actor: Actor;
  /** RFC 3339, UTC, milliseconds. */
  readonly at: string;
};

/** What a decision on an existing entry may expect of it. */
export type EntryExpectation = {
  /** Versions of `If-Match`; any other one answers `entry_changed` (spec 4, concurrency). */
  readonly versions?: readonly number[] | undefined;
};

/** @throws `validation_failed` with `fields`; `conflict` when the id is in use */
export function createEntry(
  state: EntryState | undefined,
  command: EntryCommand & { readonly data: JsonObject; readonly slug?: string | undefined; readonly status?: EntryStatus | undefined },
): readonly EntryFact[] {
  if (state) throw refusal('conflict');
  const { values, problems } = checkNewValues(command.definition, command.data);
  if (problems.length > 0) throw refusal('validation_failed', { fields: problems });
  const status = command.definition.with_draft_publish === true ? (command.status ?? 'draft') : 'published';
  const slug = command.slug === undefined ? {} : { slug: command.slug };
  return [fact(undefined, command, { type: 'EntryCreated', data: { ...base(command), fields: values, status, ...slug } })];
}

/** Writes the fields that differ from the stored ones; nothing happens where none does. @throws `entry_not_found`, `entry_changed`, `validation_failed` */
export function changeEntry(
  state: EntryState | undefined,
  command: EntryCommand & EntryExpectation & { readonly data: JsonObject; readonly slug?: string | undefined; readonly restoredVersion?: number | undefined },
): readonly EntryFact[] {
  const entry = existing(state, command);
  const { values, problems } = checkChangedValues(command.definition, entry.fields, command.data);
  if (problems.length > 0) throw refusal('validation_failed', { fields: problems });
  const held = new Map(storedFields(command.definition).map((field) => [field.key, shownValue(field, entry.fields)]));
  const fields: FieldValues = Object.fromEntries(Object.entries(values).filter(([key, value]) => !sameJson(value, held.get(key) ?? null)));
  const slug = command.slug === undefined || command.slug === entry.slug ? {} : { slug: command.slug };
  if (Object.keys(fields).length === 0 && !('slug' in slug)) return [];
  const restored = command.restoredVersion === undefined ? {} : { restored_version: command.restoredVersion };
  return [fact(entry, command, { type: 'EntryFieldsChanged', data: { ...base(command), fields, ...slug, ...restored } })];
}

/** Moves of an entry's status (spec 1, entry status; spec 4 A). */
const MOVES = {
  publish: { from: ['draft'], event: 'EntryPublished' },
  unpublish: { from: ['published'], event: 'EntryUnpublished' },
  archive: { from: ['draft', 'published'], event: 'EntryArchived' },
  unarchive: { from: ['archived'], event: 'EntryUnarchived' },
} as const satisfies Record<string, { readonly from: readonly EntryStatus[]; readonly event: EntryEvent['type'] }>;

export type EntryMove = keyof typeof MOVES;
export const ENTRY_MOVES: readonly EntryMove[] = ['publish', 'unpublish', 'archive', 'unarchive'];

/** @throws `entry_not_found`, `entry_changed`, `invalid_status_transition` when the status does not allow the move or the type has no draft and publish */
export function moveEntry(state: EntryState | undefined, command: EntryCommand & EntryExpectation & { readonly move: EntryMove }): readonly EntryFact[] {
  const entry = existing(state, command);
  const from: readonly EntryStatus[] = MOVES[command.move].from;
  if (command.definition.with_draft_publish !== true || !from.includes(entry.status)) throw refusal('invalid_status_transition');
  return [fact(entry, command, { type: MOVES[command.move].event, data: base(command) })];
}

/** @throws `entry_not_found`, `entry_changed` */
export function deleteEntry(state: EntryState | undefined, command: EntryCommand & EntryExpectation): readonly EntryFact[] {
  const entry = existing(state, command);
  const soft = command.definition.with_soft_delete === true ? { soft: true } : {};
  return [fact(entry, command, { type: 'EntryDeleted', data: { ...base(command), ...soft } })];
}

/**
 * Brings a deleted entry back with the values it had, whether its deletion was soft or not; which may come back is the use
 * cases' to say. `overriding`: values that take the place of those of the past.
 * @throws `entry_not_found`, `entry_changed`, `invalid_status_transition` for an entry that is not deleted
 */
export function undeleteEntry(state: EntryState | undefined, command: EntryCommand & EntryExpectation & { readonly overriding?: FieldValues | undefined }): readonly EntryFact[] {
  const entry = expected(state, command);
  if (!entry.deleted) throw refusal('invalid_status_transition');
  const whole: WholeEntry = {
    fields: { ...entry.fields, ...command.overriding },
    status: command.definition.with_draft_publish === true ? entry.status : 'published',
    ...(entry.slug === undefined ? {} : { slug: entry.slug }),
    created_at: entry.createdAt,
    created_by: entry.createdBy,
    ...(entry.publishedAt === undefined ? {} : { published_at: entry.publishedAt }),
  };
  return [fact(entry, command, { type: 'EntryUndeleted', data: { ...base(command), whole } })];
}

function existing(state: EntryState | undefined, command: EntryCommand & EntryExpectation): EntryState {
  if (state?.deleted === true) throw refusal('entry_not_found');
  return expected(state, command);
}

function expected(state: EntryState | undefined, command: EntryCommand & EntryExpectation): EntryState {
  if (!state || state.typeId !== command.typeId) throw refusal('entry_not_found');
  if (command.versions && !command.versions.includes(state.version)) throw refusal('entry_changed');
  return state;
}

function base({ typeId, typeRevision, definition }: EntryCommand): EntryEventBase {
  return { type_id: typeId, schema: definition.name, type_revision: typeRevision };
}

/** Time never runs backwards inside an entry, so that a moment names one state of it (`as_of`). */
function fact(entry: EntryState | undefined, { entryId, actor, at }: EntryCommand, event: EntryEvent): EntryFact {
  return { ...event, entryId, actor, at: entry && entry.updatedAt > at ? entry.updatedAt : at };
}

function evolve(state: EntryState | undefined, event: EntryFact): EntryState | undefined {
  const { actor, at, data } = event;
  if (event.type === 'EntryCreated') {
    return {
      id: event.entryId,
      typeId: data.type_id,
      schema: data.schema,
      fields: event.data.fields,
      status: event.data.status,
      slug: event.data.slug,
      version: (state?.version ?? 0) + 1,
      createdAt: at,
      updatedAt: at,
      publishedAt: event.data.status === 'published' ? at : undefined,
      createdBy: actor,
      updatedBy: actor,
      deleted: false,
      deletedSoftly: false,
    };
  }
  // An entry whose first event is out of sight has nothing to change.
  if (!state) return undefined;
  const next: EntryState = { ...state, schema: data.schema, version: state.version + 1, updatedAt: at, updatedBy: actor };
  switch (event.type) {
    case 'EntryFieldsChanged':
      return { ...next, fields: { ...state.fields, ...event.data.fields }, slug: event.data.slug ?? state.slug };
    case 'EntryPublished':
      return { ...next, status: 'published', publishedAt: at };
    case 'EntryUnpublished':
      return { ...next, status: 'draft', publishedAt: undefined };
    case 'EntryArchived':
      return { ...next, status: 'archived', publishedAt: undefined };
    case 'EntryUnarchived':
      return { ...next, status: 'draft' };
    case 'EntryDeleted':
      return { ...next, deleted: true, deletedSoftly: event.data.soft === true };
    case 'EntryUndeleted': {
      const { fields, status, slug, published_at: publishedAt } = event.data.whole;
      return { ...next, fields, status, slug, publishedAt, deleted: false, deletedSoftly: false };
    }
  }
}
