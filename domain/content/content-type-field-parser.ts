import type { Json } from '../json.ts';
import { parseRules } from './content-type-rules.ts';
import { FIELD_TYPES, type FieldDefinition, type FieldType, RELATION_TYPES, type RelationType } from './definition.ts';
import { readValue } from './entry-value.ts';
import { isManyToMany, isStored } from './field-types.ts';
import { InvalidDefinition } from './invalid-definition.ts';
import { type JsonRecord, optionalBoolean, parseObject } from './parse-json.ts';

/** A field as a client sends it, without an id. */
export type ParsedField = Omit<FieldDefinition, 'id'>;

const FIELD_NAME = /^[a-z][a-z0-9_]{0,62}$/;
const LOCALIZABLE = ['rich_text', 'text', 'url'];
const KEYS = [
  'name',
  'field_type',
  'required',
  'unique',
  'indexed',
  'default',
  'validation',
  'localized',
  'relation_to',
  'relation_type',
  'relation_field',
];
/** Names that the entry itself uses in responses. */
const RESERVED = [
  'id',
  'data',
  'version',
  'status',
  'slug',
  'created_at',
  'updated_at',
  'published_at',
  'created_by',
  'updated_by',
];
/** Columns that every table has: the tenant's, and PostgreSQL's system columns. */
const TAKEN_COLUMNS = ['tenant_id', 'ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'tableoid'];

/**
 * Reads a field as a client sends it.
 * @param allowedReservedNames Reserved names that the fields of this content type may have.
 * @throws InvalidDefinition
 */
export function parseField(input: unknown, allowedReservedNames: readonly string[] = []): ParsedField {
  const body = parseObject(input, 'a field', KEYS);
  const name = parseFieldName(body['name'], allowedReservedNames);
  const prefix = `field "${name}": `;
  const fieldType = body['field_type'];
  if (fieldType === undefined || fieldType === null) throw new InvalidDefinition(`${prefix}field_type is required`);
  if (!isFieldType(fieldType)) throw new InvalidDefinition(`${prefix}unknown field_type ${quoted(fieldType)}`);
  const flags = {
    required: optionalBoolean(body, 'required', prefix),
    unique: optionalBoolean(body, 'unique', prefix),
    indexed: optionalBoolean(body, 'indexed', prefix),
    localized: optionalBoolean(body, 'localized', prefix),
  };
  const relation = parseRelation({ body, fieldType, name, prefix });
  const field = { name, field_type: fieldType, ...flags, ...relation };
  checkColumn(field, prefix);
  checkFlags(field, prefix);
  const rules = parseRules(body['validation'], field, prefix);
  return {
    ...field,
    ...parseDefault(body['default'], field, prefix),
    ...(rules.length === 0 ? {} : { validation: rules }),
  };
}

/**
 * Reads a new name for an existing field.
 * @throws InvalidDefinition for a name that the field's kind does not allow
 */
export function parseNewFieldName(field: FieldDefinition, input: Json): string {
  const name = parseFieldName(input);
  const prefix = `field "${name}": `;
  checkColumn({ ...field, name }, prefix);
  checkNameLength(field.relation_type, name, prefix);
  return name;
}

function parseFieldName(name: Json | undefined, allowedReservedNames: readonly string[] = []): string {
  if (name === undefined || name === null || name === '') throw new InvalidDefinition('a field needs a name');
  if (typeof name !== 'string' || !FIELD_NAME.test(name)) {
    throw new InvalidDefinition(
      `field name ${quoted(name)} must start with a letter and hold at most 63 lower-case letters, digits or _`,
    );
  }
  if (RESERVED.includes(name) && !allowedReservedNames.includes(name))
    throw new InvalidDefinition(`field name "${name}" is reserved`);
  return name;
}

function parseRelation({
  body,
  fieldType,
  name,
  prefix,
}: {
  readonly body: JsonRecord;
  readonly fieldType: FieldType;
  readonly name: string;
  readonly prefix: string;
}): Pick<FieldDefinition, 'relation_to' | 'relation_type' | 'relation_field'> {
  const [to, type, other] = [body['relation_to'] ?? '', body['relation_type'] ?? '', body['relation_field'] ?? ''];
  if (fieldType !== 'relation') {
    if (to !== '' || type !== '' || other !== '')
      throw new InvalidDefinition(`${prefix}relation_to, relation_type and relation_field belong to relations`);
    return {};
  }
  if (typeof to !== 'string' || to === '') throw new InvalidDefinition(`${prefix}relation_to is required`);
  const kind = type === '' ? 'belongs_to' : type;
  if (!isRelationType(kind)) throw new InvalidDefinition(`${prefix}unknown relation_type ${quoted(kind)}`);
  if (typeof other !== 'string') throw new InvalidDefinition(`${prefix}relation_field must be a string`);
  if (other !== '' && kind !== 'has_one' && kind !== 'has_many')
    throw new InvalidDefinition(`${prefix}relation_field belongs to has_one and has_many`);
  checkNameLength(kind, name, prefix);
  return { relation_to: to, relation_type: kind, ...(other === '' ? {} : { relation_field: other }) };
}

/** The column of a belongs_to is named `<name>_id`. */
function checkNameLength(kind: RelationType | undefined, name: string, prefix: string): void {
  if (kind === 'belongs_to' && name.length > 60)
    throw new InvalidDefinition(`${prefix}the name of a belongs_to must have at most 60 characters`);
}

function checkColumn(field: ParsedField, prefix: string): void {
  const column = field.field_type === 'relation' ? `${field.name}_id` : field.name;
  if (TAKEN_COLUMNS.includes(column) || TAKEN_COLUMNS.includes(field.name))
    throw new InvalidDefinition(`${prefix}the name "${column}" is reserved`);
}

function checkFlags(field: ParsedField, prefix: string): void {
  if (field.localized === true && !LOCALIZABLE.includes(field.field_type)) {
    throw new InvalidDefinition(
      `field_type "${field.field_type}" cannot be localized (allowed: ${LOCALIZABLE.join(', ')})`,
    );
  }
  if (field.localized === true && field.unique === true)
    throw new InvalidDefinition(`${prefix}a unique field cannot be localized`);
  const keyed = field.unique === true || field.indexed === true;
  if (keyed && field.field_type === 'json')
    throw new InvalidDefinition(`${prefix}a json field cannot be unique or indexed`);
  if (keyed && (!isStored(field) || isManyToMany(field)))
    throw new InvalidDefinition(`${prefix}a relation of kind ${field.relation_type ?? ''} cannot be unique or indexed`);
  if (field.required === true && (field.relation_type === 'has_one' || field.relation_type === 'has_many')) {
    throw new InvalidDefinition(`${prefix}a relation of kind ${field.relation_type} cannot be required`);
  }
}

function parseDefault(value: Json | undefined, field: ParsedField, prefix: string): { readonly default?: Json } {
  if (value === undefined || value === null) return {};
  if (field.field_type === 'relation') throw new InvalidDefinition(`${prefix}a relation has no default`);
  if (field.unique === true) throw new InvalidDefinition(`${prefix}a unique field has no default`);
  const read = readValue({ ...field, id: '' }, value);
  if (!read.ok) throw new InvalidDefinition(`${prefix}default ${read.message}`);
  return read.value === null ? {} : { default: read.value };
}

function isFieldType(value: Json): value is FieldType {
  return FIELD_TYPES.some((type) => type === value);
}

function isRelationType(value: Json): value is RelationType {
  return RELATION_TYPES.some((type) => type === value);
}

function quoted(value: Json): string {
  return JSON.stringify(value).slice(0, 80);
}
