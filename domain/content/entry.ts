import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import type { Actor } from '../event.ts';
import type { JsonObject } from '../json.ts';
import type { ContentTypeDefinition } from './definition.ts';
import type {
  AttributedEntryEvent,
  Compensation,
  EntryEvent,
  EntryEventBase,
  EntryStatus,
  FieldValues,
} from './entry-events.ts';
import { shownValue, storedFields } from './entry-fields.ts';
import type { EntryState } from './entry-state.ts';
import { checkChangedValues, checkNewValues } from './entry-values.ts';
import { sameJson } from './same-json.ts';

/** The entry, its current content type, who acts and when. Every command on an entry carries these. */
export type EntryCommandBase = {
  readonly entryId: string;
  readonly typeId: string;
  readonly typeRevision: number;
  readonly definition: ContentTypeDefinition;
  readonly actor: Actor;
  /** RFC 3339, UTC, milliseconds. */
  readonly at: string;
  readonly compensates?: Compensation | undefined;
};

/** The versions of an `If-Match` header. A command on any other version is refused with `entry_changed`. */
type ExpectedVersions = { readonly versions?: readonly number[] | undefined };

export type EntryCommand = EntryCommandBase &
  (
    | {
        readonly kind: 'create';
        readonly data: JsonObject;
        readonly slug?: string | undefined;
        readonly status?: EntryStatus | undefined;
      }
    | (ExpectedVersions & {
        readonly kind: 'change';
        readonly data: JsonObject;
        readonly slug?: string | undefined;
        /** The version whose values the command writes again. */
        readonly restoredVersion?: number | undefined;
      })
    | (ExpectedVersions & { readonly kind: 'transition'; readonly transition: EntryTransition })
    | (ExpectedVersions & { readonly kind: 'delete' })
    /** `overriding`: values that replace the entry's last ones. */
    | (ExpectedVersions & { readonly kind: 'undelete'; readonly overriding?: FieldValues | undefined })
  );

type CommandOf<Kind extends EntryCommand['kind']> = Extract<EntryCommand, { readonly kind: Kind }>;

/** The status changes of an entry. Archived entries are unarchived to draft. */
const TRANSITIONS = {
  publish: { from: ['draft'], event: 'EntryPublished' },
  unpublish: { from: ['published'], event: 'EntryUnpublished' },
  archive: { from: ['draft', 'published'], event: 'EntryArchived' },
  unarchive: { from: ['archived'], event: 'EntryUnarchived' },
} as const satisfies Record<string, { readonly from: readonly EntryStatus[]; readonly event: EntryEvent['type'] }>;

export type EntryTransition = keyof typeof TRANSITIONS;
export const ENTRY_TRANSITIONS: readonly EntryTransition[] = ['publish', 'unpublish', 'archive', 'unarchive'];

/** The state is undefined before the first event. A deleted entry keeps its last values. */
export const entryDecider: Decider<EntryState | undefined, EntryCommand, AttributedEntryEvent> = {
  initialState,
  decide,
  evolve,
};

function initialState(): EntryState | undefined {
  return undefined;
}

/**
 * @throws `conflict` when the id of a new entry is in use; `validation_failed` with `fields`; `entry_not_found` for an
 *   entry that does not exist, is deleted or has another type; `entry_changed` when the version is not an expected one;
 *   `invalid_status_transition` when the status does not allow the transition, the type has no draft and publish, or
 *   the entry to undelete is not deleted
 */
function decide(state: EntryState | undefined, command: EntryCommand): readonly AttributedEntryEvent[] {
  switch (command.kind) {
    case 'create':
      if (state) throw refusal('conflict');
      return create(command);
    case 'change':
      return change(existing(state, command), command);
    case 'transition':
      return transition(existing(state, command), command);
    case 'delete': {
      const entry = existing(state, command);
      const soft = command.definition.with_soft_delete === true ? { soft: true } : {};
      return [attribute({ type: 'EntryDeleted', data: { ...base(command), ...soft } }, entry, command)];
    }
    case 'undelete':
      return undelete(expected(state, command), command);
  }
}

function create(command: CommandOf<'create'>): readonly AttributedEntryEvent[] {
  const { values, problems } = checkNewValues(command.definition, command.data);
  if (problems.length > 0) throw refusal('validation_failed', { fields: problems });
  const status = command.definition.with_draft_publish === true ? (command.status ?? 'draft') : 'published';
  const slug = command.slug === undefined ? {} : { slug: command.slug };
  const data = { ...base(command), fields: values, status, ...slug };
  return [attribute({ type: 'EntryCreated', data }, undefined, command)];
}

/** Writes the fields that differ from the stored values. */
function change(entry: EntryState, command: CommandOf<'change'>): readonly AttributedEntryEvent[] {
  const { values, problems } = checkChangedValues(command.definition, entry.fields, command.data);
  if (problems.length > 0) throw refusal('validation_failed', { fields: problems });
  const shownValues = new Map(
    storedFields(command.definition).map((field) => [field.key, shownValue(field, entry.fields)]),
  );
  const fields: FieldValues = Object.fromEntries(
    Object.entries(values).filter(([key, value]) => !sameJson(value, shownValues.get(key) ?? null)),
  );
  const slug = command.slug === undefined || command.slug === entry.slug ? {} : { slug: command.slug };
  if (Object.keys(fields).length === 0 && !('slug' in slug)) return [];
  const restored = command.restoredVersion === undefined ? {} : { restored_version: command.restoredVersion };
  const data = { ...base(command), fields, ...slug, ...restored };
  return [attribute({ type: 'EntryFieldsChanged', data }, entry, command)];
}

function transition(entry: EntryState, command: CommandOf<'transition'>): readonly AttributedEntryEvent[] {
  const from: readonly EntryStatus[] = TRANSITIONS[command.transition].from;
  if (command.definition.with_draft_publish !== true || !from.includes(entry.status))
    throw refusal('invalid_status_transition');
  return [attribute({ type: TRANSITIONS[command.transition].event, data: base(command) }, entry, command)];
}

/** Accepts an entry that was deleted in any way. The use cases decide which deletions can be undone. */
function undelete(entry: EntryState, command: CommandOf<'undelete'>): readonly AttributedEntryEvent[] {
  if (!entry.deleted) throw refusal('invalid_status_transition');
  const whole = {
    fields: { ...entry.fields, ...command.overriding },
    status: command.definition.with_draft_publish === true ? entry.status : 'published',
    ...(entry.slug === undefined ? {} : { slug: entry.slug }),
    created_at: entry.createdAt,
    created_by: entry.createdBy,
    ...(entry.publishedAt === undefined ? {} : { published_at: entry.publishedAt }),
  } as const;
  return [attribute({ type: 'EntryUndeleted', data: { ...base(command), whole } }, entry, command)];
}

function existing(state: EntryState | undefined, command: EntryCommandBase & ExpectedVersions): EntryState {
  if (state?.deleted === true) throw refusal('entry_not_found');
  return expected(state, command);
}

function expected(state: EntryState | undefined, command: EntryCommandBase & ExpectedVersions): EntryState {
  if (!state || state.typeId !== command.typeId) throw refusal('entry_not_found');
  if (command.versions && !command.versions.includes(state.version)) throw refusal('entry_changed');
  return state;
}

function base({ typeId, typeRevision, definition, compensates }: EntryCommandBase): EntryEventBase {
  const reason = compensates && { compensates };
  return { type_id: typeId, schema: definition.name, type_revision: typeRevision, ...reason };
}

/** Times never decrease within an entry, so that a point in time names exactly one of its states. */
function attribute(
  event: EntryEvent,
  entry: EntryState | undefined,
  { entryId, actor, at }: EntryCommandBase,
): AttributedEntryEvent {
  return { ...event, entryId, actor, at: entry && entry.updatedAt > at ? entry.updatedAt : at };
}

function evolve(state: EntryState | undefined, event: AttributedEntryEvent): EntryState | undefined {
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
  // The beginning of the stream is truncated, so the entry's values are unknown.
  if (!state) return undefined;
  const next: EntryState = {
    ...state,
    schema: data.schema,
    version: state.version + 1,
    updatedAt: at,
    updatedBy: actor,
  };
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
