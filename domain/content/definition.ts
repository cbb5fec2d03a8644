import type { Json } from '../json.ts';
import type { SchemaOperation } from './schema-operation.ts';

/** Field types (spec 4, content API). */
export const FIELD_TYPES = [
  'text', 'rich_text', 'url', 'email', 'slug', 'number', 'integer', 'decimal', 'boolean', 'date', 'datetime', 'time', 'uuid', 'json', 'media', 'relation',
] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

export const RELATION_TYPES = ['belongs_to', 'has_one', 'has_many', 'many_to_many'] as const;
export type RelationType = (typeof RELATION_TYPES)[number];

/** One rule of a field, such as `{rule: 'enum', params: {values: ['a']}}`. */
export type ValidationRule = { readonly rule: string; readonly params: { readonly [name: string]: Json } };

/** A field as stored. `id` stays the same through renames; the API never shows it. */
export type FieldDefinition = {
  readonly id: string;
  readonly name: string;
  readonly field_type: FieldType;
  readonly required?: boolean;
  readonly unique?: boolean;
  readonly indexed?: boolean;
  readonly default?: Json;
  readonly validation?: readonly ValidationRule[];
  readonly localized?: boolean;
  readonly relation_to?: string;
  readonly relation_type?: RelationType;
  readonly relation_field?: string;
};

export const TRANSPORT_MODES = ['rw', 'r', 'w', 'off'] as const;
export type TransportMode = (typeof TRANSPORT_MODES)[number];
export type Transports = { readonly rest?: TransportMode; readonly graphql?: TransportMode; readonly grpc?: TransportMode };

/** A content type as stored (spec 2, content type definition). */
export type ContentTypeDefinition = {
  readonly name: string;
  readonly display_name?: string;
  readonly fields: readonly FieldDefinition[];
  readonly with_created_at?: boolean;
  readonly with_updated_at?: boolean;
  readonly with_soft_delete?: boolean;
  readonly with_draft_publish?: boolean;
  readonly transports?: Transports;
};

/** One statement of a schema change (spec 2, database statement). */
export type SchemaStatement = {
  readonly id: string;
  readonly description: string;
  readonly sql: string;
  readonly down_sql: string;
  readonly destructive?: boolean;
  /** Table that it changes where that is not the one of the type's name: renames and adoptions. */
  readonly table?: string;
  /** The change as data, from which projectors render it for their schema. */
  readonly operation: SchemaOperation;
};
