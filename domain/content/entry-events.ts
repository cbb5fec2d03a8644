import { eventParser } from '../event-parser.ts';
import type { Actor, DomainEvent, RecordedEvent, StreamRevision } from '../event.ts';
import type { Json } from '../json.ts';
import { partsOf } from '../stream.ts';

/**
 * Every event of an entry names the content type by its id and by its name at that time, and the revision of the
 * content type that the field names belong to.
 */
export type EntryEventBase = {
  readonly type_id: string;
  readonly schema: string;
  readonly type_revision: number;
  readonly compensates?: Compensation;
};

/**
 * Why an event takes back an earlier one of the stream: a condition of that write did not hold any more when it was
 * stored, on an event store that does not check it.
 */
export type Compensation = {
  /** Revision of the last event that is taken back. */
  readonly revision: StreamRevision;
  /** Code of the refusal that the caller got, such as `unique_value_held`. */
  readonly reason: string;
};

/**
 * Field values by the field's name at the time of the event; null for a field without a value. A belongs_to relation is
 * stored under `<field>_id`.
 */
export type FieldValues = { readonly [field: string]: Json };

/** Events of an entry, stream `entry-<tenant>.<entry id>`. They carry what changed, not whole copies. */
export type EntryEvent =
  | DomainEvent<
      'EntryCreated',
      EntryEventBase & { readonly fields: FieldValues; readonly status: EntryStatus; readonly slug?: string }
    >
  | DomainEvent<
      'EntryFieldsChanged',
      EntryEventBase & { readonly fields: FieldValues; readonly slug?: string; readonly restored_version?: number }
    >
  | DomainEvent<'EntryPublished', EntryEventBase & OfRelease>
  | DomainEvent<'EntryUnpublished', EntryEventBase & OfRelease>
  | DomainEvent<'EntryArchived', EntryEventBase & OfRelease>
  /** The entry is a draft again. */
  | DomainEvent<'EntryUnarchived', EntryEventBase>
  /** `soft`: the content type has soft delete; the read model keeps the entry, hidden, and it can be undeleted. */
  | DomainEvent<'EntryDeleted', EntryEventBase & { readonly soft?: boolean }>
  /**
   * The deleted entry exists again. The event carries the whole entry, because read models may hold nothing of it: the
   * deletion was not soft, or the soft-deleted entries were purged.
   */
  | DomainEvent<'EntryUndeleted', EntryEventBase & { readonly whole: WholeEntry }>;

/** Id of the release that changed the status; absent for other transitions. */
type OfRelease = { readonly release_id?: string };

/** Everything a read model needs to show an entry again. */
export type WholeEntry = {
  readonly fields: FieldValues;
  readonly status: EntryStatus;
  readonly slug?: string;
  readonly created_at: string;
  readonly created_by: Actor;
  readonly published_at?: string;
};

/** Entries of a type without draft and publish are always `published`. */
export type EntryStatus = 'draft' | 'published' | 'archived';

/**
 * An entry's event with its entry, actor and time: enough to fold a state from. `at` is RFC 3339, UTC, milliseconds.
 */
export type AttributedEntryEvent = EntryEvent & {
  readonly entryId: string;
  readonly at: string;
  readonly actor: Actor;
};

export const entryEvents = eventParser<EntryEvent>('entry', [
  'EntryCreated',
  'EntryFieldsChanged',
  'EntryPublished',
  'EntryUnpublished',
  'EntryArchived',
  'EntryUnarchived',
  'EntryDeleted',
  'EntryUndeleted',
]);

/**
 * Reads a stored event of an entry's stream.
 * @throws TypeError for an event of another aggregate
 */
export function parseEntryEvent(event: RecordedEvent): AttributedEntryEvent {
  return {
    ...entryEvents.parse(event),
    entryId: partsOf(event.stream, 'entry').id,
    at: event.metadata.occurred_at,
    actor: event.metadata.actor,
  };
}

/** The field values that an event writes: of a new, changed or undeleted entry. */
export function writtenFields(event: EntryEvent): readonly FieldValues[] {
  if (event.type === 'EntryUndeleted') return [event.data.whole.fields];
  return event.type === 'EntryCreated' || event.type === 'EntryFieldsChanged' ? [event.data.fields] : [];
}
