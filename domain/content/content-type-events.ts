import { eventParser } from '../event-parser.ts';
import type { DomainEvent } from '../event.ts';
import type { ContentTypeDefinition, FieldDefinition } from './definition.ts';
import type { SchemaStatement } from './schema-statement.ts';

/**
 * Events of a content type, stream `content_type-<tenant>.<type id>`. A rename keeps the id. `ContentTypeSaved` creates
 * and changes the type. Statements marked destructive are queued; the others are applied at once.
 */
export type ContentTypeEvent =
  | DomainEvent<
      'ContentTypeSaved',
      {
        readonly type_id: string;
        readonly definition: ContentTypeDefinition;
        readonly statements: readonly SchemaStatement[];
        /** Ids of the pending statements that this save cancels. */
        readonly canceled: readonly string[];
        /** Removed fields whose values are kept until a pending statement runs. */
        readonly retained: readonly FieldDefinition[];
        /** The type had been deleted with its entries kept; this save restores the type and the entries. */
        readonly adopted?: boolean;
      }
    >
  /** The type has a new name. From this event on, relations of the tenant's other types refer to the new name. */
  | DomainEvent<
      'ContentTypeRenamed',
      {
        readonly type_id: string;
        readonly from: string;
        readonly definition: ContentTypeDefinition;
        readonly statements: readonly SchemaStatement[];
      }
    >
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
  /** Pending statements were run. */
  | DomainEvent<
      'ContentTypeStatementsApplied',
      {
        readonly type_id: string;
        readonly name: string;
        /**
         * The pending statements that succeeded, under their ids, as they ran. They may differ from the queued ones,
         * because other tenants may have started or stopped using the table since.
         */
        readonly applied: readonly SchemaStatement[];
        /** Further statements that ran with them. */
        readonly statements: readonly SchemaStatement[];
        /** The pending statements that the database refused; they stay pending. */
        readonly failed: readonly { readonly id: string; readonly reason: string }[];
        /** Removed fields whose values are still kept. */
        readonly retained: readonly FieldDefinition[];
      }
    >
  | DomainEvent<
      'ContentTypeDeleted',
      { readonly type_id: string; readonly name: string; readonly content: 'hard' | 'soft' }
    >;

export const contentTypeEvents = eventParser<ContentTypeEvent>('content type', [
  'ContentTypeSaved',
  'ContentTypeRenamed',
  'ContentTypeFieldRenamed',
  'ContentTypeStatementsApplied',
  'ContentTypeDeleted',
]);

/**
 * Name of the content type whose definition or table an event changes.
 * @returns undefined for a rename, which may change any of the tenant's content types
 */
export function changedName(event: ContentTypeEvent): string | undefined {
  if (event.type === 'ContentTypeSaved') return event.data.definition.name;
  return event.type === 'ContentTypeRenamed' || event.type === 'ContentTypeFieldRenamed' ? undefined : event.data.name;
}
