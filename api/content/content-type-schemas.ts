import type { ContentTypeDefinition, FieldDefinition, ValidationRule } from '../../domain/content/definition.ts';
import { keyOf } from '../../domain/content/entry-fields.ts';
import { MAX_LINKS } from '../../domain/content/entry-value.ts';
import { FIELD_TYPE_SPECS, isManyToMany, isStored } from '../../domain/content/field-types.ts';
import { MAX_MANY } from '../../domain/content/populate-plan.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import { isList } from '../http/openapi/json-schema.ts';

/** JSON Schemas of the `data` of one content type's entries. */
export type DataSchemas = {
  /** As reads answer it, without the parameter `fields`. */
  readonly read: JsonObject;
  /** As a creation takes it. */
  readonly create: JsonObject;
  /** As an update takes it: any part. */
  readonly update: JsonObject;
};

/** Answers the reference to the whole entries of a content type; undefined where they can't be shown. */
export type EntryReference = (name: string) => JsonObject | undefined;

const ID: JsonObject = { type: 'string', format: 'uuid' };

/**
 * What `data` of a content type looks like. A required field counts as never null, though entries that were stored before the field became required may
 * still lack it. What populated relations show follows `reference`.
 */
export function dataSchemasOf({ fields }: ContentTypeDefinition, reference: EntryReference): DataSchemas {
  const stored = fields.filter(isStored);
  const written = Object.fromEntries(stored.map((field): [string, Json] => [keyOf(field), writtenValue(field)]));
  const needed = stored.filter(({ required, default: preset }) => required === true && preset === undefined).map(keyOf);
  return {
    read: {
      type: 'object',
      properties: Object.fromEntries(fields.flatMap((field) => readMembers(field, reference))),
      required: stored.map(keyOf),
    },
    create: { type: 'object', properties: written, additionalProperties: false, ...(needed.length > 0 && { required: needed }) },
    update: { type: 'object', properties: written, additionalProperties: false },
  };
}

/** What one field shows: its value, and beside it or in its place what `populate` shows. */
function readMembers(field: FieldDefinition, reference: EntryReference): readonly [string, Json][] {
  if (field.field_type !== 'relation') return [[field.name, readValue(field)]];
  const entry = reference(field.relation_to ?? '');
  const whole = (schema: JsonObject, what: string): JsonObject => ({ ...schema, description: `${what}; with populate` });
  if (isManyToMany(field)) {
    const ids: JsonObject = { type: 'array', items: ID, maxItems: MAX_LINKS };
    return [[field.name, entry ? { anyOf: [ids, { type: 'array', items: entry }], description: 'Ids; with populate the entries' } : ids]];
  }
  const shown: readonly [string, Json][] = !entry
    ? []
    : field.relation_type === 'has_many'
      ? [[field.name, whole({ type: 'array', items: entry, maxItems: MAX_MANY }, `The first ${MAX_MANY} related entries`)]]
      : [[field.name, whole({ anyOf: [entry, { type: 'null' }] }, 'The related entry')]];
  return isStored(field) ? [[keyOf(field), readValue(field)], ...shown] : shown;
}

function readValue(field: FieldDefinition): JsonObject {
  const schema = constrained(field);
  return field.required === true ? schema : nullable(schema);
}

/** Decimals may be given as numbers; empty text is no value where the type has none. */
function writtenValue(field: FieldDefinition): JsonObject {
  if (isManyToMany(field)) return { type: 'array', items: ID, maxItems: MAX_LINKS, ...(field.required === true && { minItems: 1 }) };
  const schema = constrained(field);
  const value: JsonObject = field.field_type === 'decimal' ? { anyOf: [schema, { type: 'number' }] } : schema;
  const given = field.default === undefined ? value : { ...value, default: field.default };
  return field.required === true ? given : nullable(given);
}

/** The value of a field that has one. */
function constrained(field: FieldDefinition): JsonObject {
  const { schema } = FIELD_TYPE_SPECS[field.field_type];
  const rules = (field.validation ?? []).map((rule) => ruleOf(rule, field));
  const notes = [
    ...(field.unique === true ? ['no two entries share it'] : []),
    ...(field.field_type === 'media' ? ['id of a media file'] : field.field_type === 'relation' ? [`id of an entry of ${field.relation_to ?? ''}`] : []),
    ...rules.flatMap(({ note }) => note ?? []),
  ];
  return { ...schema, ...Object.assign({}, ...rules.map(({ keywords }) => keywords)) as JsonObject, ...(notes.length > 0 && { description: sentence(notes.join('; ')) }) };
}

/** A rule as keywords of JSON Schema, or in words where it has none for it. */
function ruleOf({ rule, params }: ValidationRule, { field_type: type, required }: FieldDefinition): { readonly keywords?: JsonObject; readonly note?: string } {
  const { value, values, pattern, op, field } = params;
  const shown = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  switch (rule) {
    case 'enum':
      return values === undefined ? {} : { keywords: { enum: values } };
    case 'min':
      return typeof value === 'number' && type !== 'decimal' ? { keywords: { minimum: value } } : { note: `at least ${shown}` };
    case 'max':
      return typeof value === 'number' && type !== 'decimal' ? { keywords: { maximum: value } } : { note: `at most ${shown}` };
    case 'min_length':
      // Optional text may be empty whatever the rule says.
      return value === undefined ? {} : required === true ? { keywords: { minLength: value } } : { note: `at least ${shown} characters where there is any` };
    case 'max_length':
      return value === undefined ? {} : { keywords: { maxLength: value } };
    case 'pattern':
      if (typeof pattern !== 'string') return {};
      if (!isPlain(pattern)) return { note: `matches the RE2 pattern ${pattern}` };
      return { keywords: { pattern: required === true ? pattern : `^$|(?:${pattern})` } };
    default:
      return typeof op === 'string' && typeof field === 'string' ? { note: `${COMPARISONS[op] ?? op} ${field}` } : {};
  }
}

const COMPARISONS: Readonly<Record<string, string>> = { eq: 'equals', ne: 'differs from', gt: 'greater than', gte: 'at least', lt: 'less than', lte: 'at most' };

/** Whether the pattern means the same in the dialect of JSON Schema: as far as that can be told, it compiles there. */
function isPlain(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').source.length > 0;
  } catch {
    return false;
  }
}

function nullable(schema: JsonObject): JsonObject {
  const { type, enum: choices, anyOf, ...others } = schema;
  if (isList(anyOf)) return { ...others, anyOf: [...anyOf, { type: 'null' }] };
  if (typeof type !== 'string') return schema;
  return { type: [type, 'null'], ...(isList(choices) && { enum: [...choices, null] }), ...others };
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
