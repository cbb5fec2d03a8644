import type { Json, JsonObject } from '../json.ts';
import { canonicalDecimal } from './decimal.ts';
import type { FieldDefinition, FieldType } from './definition.ts';

/** Column types of one value; each converts into every other. */
export const SQL_TYPES = ['text', 'float8', 'int8', 'numeric', 'boolean', 'date', 'timestamptz(3)', 'time(3)', 'uuid', 'jsonb'] as const;
export type SqlType = (typeof SQL_TYPES)[number];

/** Column types of the typed tables: `uuid[]` holds the ids of a many_to_many and converts into nothing. */
export type ColumnType = SqlType | 'uuid[]';

/** What a field type is in each of its worlds. Values are checked by `readValue` (entry-value.ts). */
export type FieldTypeSpec = {
  readonly sqlType: SqlType;
  /** JSON Schema of a value that is there. */
  readonly schema: JsonObject;
  /** Values have an order: `min`, `max`, ordering `compare`, range filters. */
  readonly ordered: boolean;
  /** Holds text: `min_length`, `max_length`, `pattern`. */
  readonly textual: boolean;
};

const text = { sqlType: 'text', ordered: true, textual: true } as const;
const id = { sqlType: 'uuid', ordered: false, textual: false, schema: { type: 'string', format: 'uuid' } } as const;

/** The one table of field types (spec 4 A, field types). `relation` stands for a belongs_to; see `sqlTypeOf`. */
export const FIELD_TYPE_SPECS: { readonly [type in FieldType]: FieldTypeSpec } = {
  text: { ...text, schema: { type: 'string' } },
  rich_text: { ...text, schema: { type: 'string' } },
  url: { ...text, schema: { type: 'string', format: 'uri' } },
  email: { ...text, schema: { type: 'string', format: 'email' } },
  slug: { ...text, schema: { type: 'string', pattern: '^[a-z0-9]+(?:[-_][a-z0-9]+)*$' } },
  number: { sqlType: 'float8', ordered: true, textual: false, schema: { type: 'number' } },
  integer: {
    sqlType: 'int8', ordered: true, textual: false,
    schema: { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
  },
  decimal: { sqlType: 'numeric', ordered: true, textual: false, schema: { type: 'string', pattern: '^-?[0-9]+(\\.[0-9]+)?$' } },
  boolean: { sqlType: 'boolean', ordered: false, textual: false, schema: { type: 'boolean' } },
  date: { sqlType: 'date', ordered: true, textual: false, schema: { type: 'string', format: 'date' } },
  datetime: { sqlType: 'timestamptz(3)', ordered: true, textual: false, schema: { type: 'string', format: 'date-time' } },
  time: { sqlType: 'time(3)', ordered: true, textual: false, schema: { type: 'string', pattern: '^[0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,3})?)?$' } },
  uuid: id,
  json: { sqlType: 'jsonb', ordered: false, textual: false, schema: {} },
  media: id,
  relation: id,
};

/** Characters of a text that an index holds: a B-tree row ends at 2.7 KB. */
export const INDEXED_CHARACTERS = 255;

type FieldKind = Pick<FieldDefinition, 'field_type' | 'relation_type'>;

/** Whether an entry holds the field's value itself. A has_one or has_many is the other side of a belongs_to and holds none. */
export function isStored(field: FieldKind): boolean {
  return field.relation_type !== 'has_one' && field.relation_type !== 'has_many';
}

/** Whether the field's value is a list of ids, in the author's order. */
export function isManyToMany(field: FieldKind): boolean {
  return field.field_type === 'relation' && field.relation_type === 'many_to_many';
}

/** Type of the field's column. */
export function sqlTypeOf(field: FieldKind): ColumnType {
  return isManyToMany(field) ? 'uuid[]' : FIELD_TYPE_SPECS[field.field_type].sqlType;
}

/** What an entry without a value of the field shows. */
export function emptyValue(field: FieldKind): Json {
  return isManyToMany(field) ? [] : null;
}

/**
 * SQL of the value that indexes hold, over a quoted column: whole, or the first 255 characters of a text. Equality and order that
 * are to use the index are written on exactly this expression (equality with the whole column beside it).
 */
export function indexedExpression(sqlType: ColumnType, column: string): string {
  return sqlType === 'text' ? `left(${column}, ${INDEXED_CHARACTERS})` : column;
}

/** SQL of a column's value as JSON shows it, over a quoted column: something that `to_json` turns into the stored form of the value. */
export function jsonExpression(sqlType: ColumnType, column: string): string {
  if (sqlType === 'timestamptz(3)') return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  if (sqlType === 'date') return `to_char(${column}, 'YYYY-MM-DD')`;
  if (sqlType === 'numeric' || sqlType === 'time(3)') return `${column}::text`;
  return column;
}

/** The text under which a unique value is claimed: the same for values that the column holds as equal. `value` is in stored form. */
export function uniqueKey(fieldType: FieldType, value: Json): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  return fieldType === 'decimal' ? canonicalDecimal(value) : value;
}

/** What the scopes of all claims of a type's entries begin with. */
export function entryScopes(typeId: string): string {
  return `entry/${typeId}/`;
}

/** Scope of the claims on a unique field: by the field's id, so that a rename keeps them. */
export function uniqueScope(typeId: string, fieldId: string): string {
  return `${entryScopes(typeId)}${fieldId}`;
}
