import { eventParser } from '../event-parser.ts';
import type { Actor, DomainEvent, RecordedEvent } from '../event.ts';
import type { Json } from '../json.ts';
import { parseStream } from '../stream.ts';

/**
 * Every event of an entry names the content type by its id and by its name at that time, and the revision of the
 * content type that the field names belong to.
 */
export type EntryEventBase = { readonly type_id: string; readonly schema: string; readonly type_revision: number };

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
  const parts = parseStream(event.stream);
  if (parts?.category !== 'entry') throw new TypeError(`not the stream of an entry: ${event.stream}`);
  return {
    ...entryEvents.parse(event),
    entryId: parts.id,
    at: event.metadata.occurred_at,
    actor: event.metadata.actor,
  };
}
