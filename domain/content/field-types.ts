import type { Json, JsonObject } from '../json.ts';
import { canonicalDecimal } from './decimal.ts';
import type { FieldDefinition, FieldType } from './definition.ts';

/**
 * Types of columns that hold a single value; each converts into every other. The names are stored in events, and are
 * those of the database.
 */
export const SCALAR_COLUMN_TYPES = [
  'text',
  'float8',
  'int8',
  'numeric',
  'boolean',
  'date',
  'timestamptz(3)',
  'time(3)',
  'uuid',
  'jsonb',
] as const;
export type ScalarColumnType = (typeof SCALAR_COLUMN_TYPES)[number];

/** Types of all columns. `uuid[]` holds the ids of a many_to_many relation and does not convert. */
export type ColumnType = ScalarColumnType | 'uuid[]';

/** The properties of a field type. `readValue` validates the values. */
export type FieldTypeSpec = {
  readonly columnType: ScalarColumnType;
  /** JSON Schema of a value other than null. */
  readonly schema: JsonObject;
  /** Values have an order: `min`, `max`, the ordering operators of `compare`, and range filters apply. */
  readonly ordered: boolean;
  /** Values are text: `min_length`, `max_length` and `pattern` apply. */
  readonly textual: boolean;
};

const text = { columnType: 'text', ordered: true, textual: true } as const;
const id = { columnType: 'uuid', ordered: false, textual: false, schema: { type: 'string', format: 'uuid' } } as const;

/** All field types. `relation` describes a belongs_to; see `columnTypeOf` for the other kinds. */
export const FIELD_TYPE_SPECS: { readonly [type in FieldType]: FieldTypeSpec } = {
  text: { ...text, schema: { type: 'string' } },
  rich_text: { ...text, schema: { type: 'string' } },
  url: { ...text, schema: { type: 'string', format: 'uri' } },
  email: { ...text, schema: { type: 'string', format: 'email' } },
  slug: { ...text, schema: { type: 'string', pattern: '^[a-z0-9]+(?:[-_][a-z0-9]+)*$' } },
  number: { columnType: 'float8', ordered: true, textual: false, schema: { type: 'number' } },
  integer: {
    columnType: 'int8',
    ordered: true,
    textual: false,
    schema: { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
  },
  decimal: {
    columnType: 'numeric',
    ordered: true,
    textual: false,
    schema: { type: 'string', pattern: '^-?[0-9]+(\\.[0-9]+)?$' },
  },
  boolean: { columnType: 'boolean', ordered: false, textual: false, schema: { type: 'boolean' } },
  date: { columnType: 'date', ordered: true, textual: false, schema: { type: 'string', format: 'date' } },
  datetime: {
    columnType: 'timestamptz(3)',
    ordered: true,
    textual: false,
    schema: { type: 'string', format: 'date-time' },
  },
  time: {
    columnType: 'time(3)',
    ordered: true,
    textual: false,
    schema: { type: 'string', pattern: '^[0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,3})?)?$' },
  },
  uuid: id,
  json: { columnType: 'jsonb', ordered: false, textual: false, schema: {} },
  media: id,
  relation: id,
};

/** Leading characters of a text that an index holds; a B-tree row is limited to 2.7 KB. */
export const INDEXED_CHARACTERS = 255;

type FieldKind = Pick<FieldDefinition, 'field_type' | 'relation_type'>;

/**
 * Whether the entry itself stores the field's value. A has_one or has_many is the other side of a belongs_to and stores
 * nothing.
 */
export function isStored(field: FieldKind): boolean {
  return field.relation_type !== 'has_one' && field.relation_type !== 'has_many';
}

/** Whether the field's value is a list of ids. The order of the list is kept. */
export function isManyToMany(field: FieldKind): boolean {
  return field.field_type === 'relation' && field.relation_type === 'many_to_many';
}

/** The type of the field's column. */
export function columnTypeOf(field: FieldKind): ColumnType {
  return isManyToMany(field) ? 'uuid[]' : FIELD_TYPE_SPECS[field.field_type].columnType;
}

/** The value that responses show for an entry without a value of the field. */
export function emptyValue(field: FieldKind): Json {
  return isManyToMany(field) ? [] : null;
}

/**
 * The text under which a unique value is claimed. Values that are equal in the column give the same text. `value` is in
 * stored form.
 */
export function uniqueKey(fieldType: FieldType, value: Json): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  return fieldType === 'decimal' ? canonicalDecimal(value) : value;
}

/** Prefix of the scopes of all claims of a type's entries. */
export function entryScopePrefix(typeId: string): string {
  return `entry/${typeId}/`;
}

/** Scope of the claims on a unique field. It contains the field's id, so a rename keeps the claims. */
export function uniqueScope(typeId: string, fieldId: string): string {
  return `${entryScopePrefix(typeId)}${fieldId}`;
}
