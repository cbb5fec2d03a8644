import type { Json } from '../json.ts';

export const FIELD_TYPES = [
  'text',
  'rich_text',
  'url',
  'email',
  'slug',
  'number',
  'integer',
  'decimal',
  'boolean',
  'date',
  'datetime',
  'time',
  'uuid',
  'json',
  'media',
  'relation',
] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

export const RELATION_TYPES = ['belongs_to', 'has_one', 'has_many', 'many_to_many'] as const;
export type RelationType = (typeof RELATION_TYPES)[number];

/** A validation rule of a field, such as `{rule: 'enum', params: {values: ['a']}}`. */
export type ValidationRule = { readonly rule: string; readonly params: { readonly [name: string]: Json } };

/** A field as events store it. `id` stays the same through renames; the API never shows it. */
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
export type Transports = {
  readonly rest?: TransportMode;
  readonly graphql?: TransportMode;
  readonly grpc?: TransportMode;
};

/** A content type as events store it. */
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
