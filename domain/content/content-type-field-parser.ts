import type { Json } from '../json.ts';
import { parseRules } from './content-type-rules.ts';
import type { FieldDefinition, FieldType, RelationType } from './definition.ts';
import { FIELD_TYPES, RELATION_TYPES } from './definition.ts';
import { readValue } from './entry-value.ts';
import { isManyToMany, isStored } from './field-types.ts';
import { InvalidDefinition } from './invalid-definition.ts';
import type { JsonRecord } from './parse-json.ts';
import { optionalBoolean, parseObject } from './parse-json.ts';

/** A field as a client sends it: without the id it gets. */
export type ParsedField = Omit<FieldDefinition, 'id'>;

const FIELD_NAME = /^[a-z][a-z0-9_]{0,62}$/;
const LOCALIZABLE = ['rich_text', 'text', 'url'];
const KEYS = [
  'name', 'field_type', 'required', 'unique', 'indexed', 'default', 'validation', 'localized', 'relation_to', 'relation_type', 'relation_field',
];
/** Names of the entry itself (spec 4 B). */
const RESERVED = ['id', 'data', 'version', 'status', 'slug', 'created_at', 'updated_at', 'published_at', 'created_by', 'updated_by'];
/** Columns that every table has: the tenant's, and PostgreSQL's own. */
const TAKEN_COLUMNS = ['tenant_id', 'ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'tableoid'];

/** `mayUse`: reserved names that this content type's fields may have. @throws InvalidDefinition */
export function parseField(input: unknown, mayUse: readonly string[] = []): ParsedField {
  const body = parseObject(input, 'a field', KEYS);
  const name = parseFieldName(body['name'], mayUse);
  const what = `field "${name}": `;
  const fieldType = body['field_type'];
  if (fieldType === undefined || fieldType === null) throw new InvalidDefinition(`${what}field_type is required`);
  if (!isFieldType(fieldType)) throw new InvalidDefinition(`${what}unknown field_type ${quoted(fieldType)}`);
  const flags = {
    required: optionalBoolean(body, 'required', what),
    unique: optionalBoolean(body, 'unique', what),
    indexed: optionalBoolean(body, 'indexed', what),
    localized: optionalBoolean(body, 'localized', what),
  };
  const relation = parseRelation(body, fieldType, name, what);
  const field = { name, field_type: fieldType, ...flags, ...relation };
  checkColumn(field, what);
  checkFlags(field, what);
  const rules = parseRules(body['validation'], field, what);
  return { ...field, ...parseDefault(body['default'], field, what), ...(rules.length === 0 ? {} : { validation: rules }) };
}

/** Reads another name for a field, as its kind allows it. @throws InvalidDefinition */
export function parseNewFieldName(field: FieldDefinition, input: Json): string {
  const name = parseFieldName(input);
  const what = `field "${name}": `;
  checkColumn({ ...field, name }, what);
  checkNameLength(field.relation_type, name, what);
  return name;
}

function parseFieldName(name: Json | undefined, mayUse: readonly string[] = []): string {
  if (name === undefined || name === null || name === '') throw new InvalidDefinition('a field needs a name');
  if (typeof name !== 'string' || !FIELD_NAME.test(name)) {
    throw new InvalidDefinition(`field name ${quoted(name)} must start with a letter and hold at most 63 lower-case letters, digits or _`);
  }
  if (RESERVED.includes(name) && !mayUse.includes(name)) throw new InvalidDefinition(`field name "${name}" is reserved`);
  return name;
}

function parseRelation(body: JsonRecord, fieldType: FieldType, name: string, what: string): Pick<FieldDefinition, 'relation_to' | 'relation_type' | 'relation_field'> {
  const [to, type, other] = [body['relation_to'] ?? '', body['relation_type'] ?? '', body['relation_field'] ?? ''];
  if (fieldType !== 'relation') {
    if (to !== '' || type !== '' || other !== '') throw new InvalidDefinition(`${what}relation_to, relation_type and relation_field belong to relations`);
    return {};
  }
  if (typeof to !== 'string' || to === '') throw new InvalidDefinition(`${what}relation_to is required`);
  const kind = type === '' ? 'belongs_to' : type;
  if (!isRelationType(kind)) throw new InvalidDefinition(`${what}unknown relation_type ${quoted(kind)}`);
  if (typeof other !== 'string') throw new InvalidDefinition(`${what}relation_field must be a string`);
  if (other !== '' && kind !== 'has_one' && kind !== 'has_many') throw new InvalidDefinition(`${what}relation_field belongs to has_one and has_many`);
  checkNameLength(kind, name, what);
  return { relation_to: to, relation_type: kind, ...(other === '' ? {} : { relation_field: other }) };
}

/** A belongs_to has its column under `<name>_id`. */
function checkNameLength(kind: RelationType | undefined, name: string, what: string): void {
  if (kind === 'belongs_to' && name.length > 60) throw new InvalidDefinition(`${what}the name of a belongs_to holds at most 60 characters`);
}

function checkColumn(field: ParsedField, what: string): void {
  const column = field.field_type === 'relation' ? `${field.name}_id` : field.name;
  if (TAKEN_COLUMNS.includes(column) || TAKEN_COLUMNS.includes(field.name)) throw new InvalidDefinition(`${what}the name "${column}" is reserved`);
}

function checkFlags(field: ParsedField, what: string): void {
  if (field.localized === true && !LOCALIZABLE.includes(field.field_type)) {
    throw new InvalidDefinition(`field_type "${field.field_type}" cannot be localized (allowed: ${LOCALIZABLE.join(', ')})`);
  }
  if (field.localized === true && field.unique === true) throw new InvalidDefinition(`${what}a unique field cannot be localized`);
  const keyed = field.unique === true || field.indexed === true;
  if (keyed && field.field_type === 'json') throw new InvalidDefinition(`${what}a json field cannot be unique or indexed`);
  if (keyed && (!isStored(field) || isManyToMany(field))) throw new InvalidDefinition(`${what}a relation of kind ${field.relation_type ?? ''} cannot be unique or indexed`);
  if (field.required === true && (field.relation_type === 'has_one' || field.relation_type === 'has_many')) {
    throw new InvalidDefinition(`${what}a relation of kind ${field.relation_type} cannot be required`);
  }
}

function parseDefault(value: Json | undefined, field: ParsedField, what: string): { readonly default?: Json } {
  if (value === undefined || value === null) return {};
  if (field.field_type === 'relation') throw new InvalidDefinition(`${what}a relation has no default`);
  if (field.unique === true) throw new InvalidDefinition(`${what}a unique field has no default`);
  const read = readValue({ ...field, id: '' }, value);
  if (!read.ok) throw new InvalidDefinition(`${what}default ${read.message}`);
  return read.value === null ? {} : { default: read.value };
}

function isFieldType(value: Json): value is FieldType {
  return FIELD_TYPES.some((known) => known === value);
}

function isRelationType(value: Json): value is RelationType {
  return RELATION_TYPES.some((known) => known === value);
}

function quoted(value: Json): string {
  return JSON.stringify(value).slice(0, 80);
}
