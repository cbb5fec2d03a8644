import type { Actor, DomainEvent } from '../event.ts';
import type { Json } from '../json.ts';
import type { ContentTypeDefinition, FieldDefinition, SchemaStatement } from './definition.ts';

/**
 * Events of a content type, stream `content_type-<tenant>.<type id>`. The id stays the same through renames.
 * `ContentTypeSaved` is both creation and change; statements marked destructive are queued, the others applied.
 */
export type ContentTypeEvent =
  | DomainEvent<
      'ContentTypeSaved',
      {
        readonly type_id: string;
        readonly definition: ContentTypeDefinition;
        readonly statements: readonly SchemaStatement[];
        /** Ids of queued statements that this save took back. */
        readonly canceled: readonly string[];
        /** Fields that are removed while their values wait for a queued statement. */
        readonly retained: readonly FieldDefinition[];
        /** The type was deleted with its entries kept, and comes back with them. */
        readonly adopted?: boolean;
      }
    >
  /** The type goes by the definition's name from now on; relations of the tenant's other types to it follow. */
  | DomainEvent<'ContentTypeRenamed', { readonly type_id: string; readonly from: string; readonly definition: ContentTypeDefinition; readonly statements: readonly SchemaStatement[] }>
  | DomainEvent<
      'ContentTypeFieldRenamed',
      {
        readonly type_id: string;
        readonly field_id: string;
        readonly from: string;
        readonly to: string;
        readonly definition: ContentTypeDefinition;
        readonly retained: readonly FieldDefinition[];
        readonly statements: readonly SchemaStatement[];
      }
    >
  /** Queued statements were run. */
  | DomainEvent<
      'ContentTypeStatementsApplied',
      {
        readonly type_id: string;
        readonly name: string;
        /** The queued ones that went through, under their ids, as they ran: other tenants may have come or gone since they were queued. */
        readonly applied: readonly SchemaStatement[];
        /** What ran along with them. */
        readonly statements: readonly SchemaStatement[];
        /** Those that the database refused; they stay queued. */
        readonly failed: readonly { readonly id: string; readonly reason: string }[];
        /** Removed fields whose values still wait. */
        readonly retained: readonly FieldDefinition[];
      }
    >
  | DomainEvent<'ContentTypeDeleted', { readonly type_id: string; readonly name: string; readonly content: 'hard' | 'soft' }>;

/** What every event of an entry names: its type by id and by the name of that moment, and the type's revision that names the fields. */
export type EntryEventBase = { readonly type_id: string; readonly schema: string; readonly type_revision: number };

/** Field values by the field's name of that moment; null where there is none. Relations of kind belongs_to under `<field>_id`. */
export type FieldValues = { readonly [field: string]: Json };

/** Events of an entry, stream `entry-<tenant>.<entry id>`. They carry what changed, not whole copies (spec 5, rule 2). */
export type EntryEvent =
  | DomainEvent<'EntryCreated', EntryEventBase & { readonly fields: FieldValues; readonly status: EntryStatus; readonly slug?: string }>
  | DomainEvent<'EntryFieldsChanged', EntryEventBase & { readonly fields: FieldValues; readonly slug?: string; readonly restored_version?: number }>
  | DomainEvent<'EntryPublished', EntryEventBase & OfRelease>
  | DomainEvent<'EntryUnpublished', EntryEventBase & OfRelease>
  | DomainEvent<'EntryArchived', EntryEventBase & OfRelease>
  /** Back to draft. */
  | DomainEvent<'EntryUnarchived', EntryEventBase>
  /** `soft`: kept and hidden, may come back (types with soft delete). */
  | DomainEvent<'EntryDeleted', EntryEventBase & { readonly soft?: boolean }>
  /** Back after a deletion. It carries everything, because read models may hold nothing of the entry any more: the deletion was no soft one, or the softly deleted were purged. */
  | DomainEvent<'EntryUndeleted', EntryEventBase & { readonly whole: WholeEntry }>;

/** The release that moved the entry, where one did. */
type OfRelease = { readonly release_id?: string };

/** Everything that a read model needs to show an entry again. */
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
