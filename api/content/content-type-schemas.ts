import type { ContentTypeDefinition, FieldDefinition, ValidationRule } from '../../domain/content/definition.ts';
import { keyOf } from '../../domain/content/entry-fields.ts';
import { MAX_LINKS } from '../../domain/content/entry-value.ts';
import { FIELD_TYPE_SPECS, isManyToMany, isStored } from '../../domain/content/field-types.ts';
import { MAX_MANY } from '../../domain/content/populate-plan.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import { ownValue } from '../../domain/own-value.ts';
import { isList } from '../http/openapi/json-schema.ts';

/** JSON Schemas of the member `data` of one content type's entries. */
export type DataSchemas = {
  /** In the response of a read without the parameter `fields`. */
  readonly read: JsonObject;
  /** In the body of a create. */
  readonly create: JsonObject;
  /** In the body of an update: any subset of the fields. */
  readonly update: JsonObject;
};

/** The `$ref` of the entry schema of a content type; undefined for a type that the document does not describe. */
export type EntryReference = (name: string) => JsonObject | undefined;

const ID: JsonObject = { type: 'string', format: 'uuid' };

/**
 * Describes the `data` of a content type. A required field is described as never null, although entries that were
 * stored before the field became required may have no value. Populated relations refer to the schemas that `reference`
 * gives.
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
    create: {
      type: 'object',
      properties: written,
      additionalProperties: false,
      ...(needed.length > 0 && { required: needed }),
    },
    update: { type: 'object', properties: written, additionalProperties: false },
  };
}

/** The members that one field adds to `data`: its value, and for a relation the populated entries. */
function readMembers(field: FieldDefinition, reference: EntryReference): readonly [string, Json][] {
  if (field.field_type !== 'relation') return [[field.name, readValue(field)]];
  const entry = reference(field.relation_to ?? '');
  const whole = (schema: JsonObject, what: string): JsonObject => ({
    ...schema,
    description: `${what}; with populate`,
  });
  if (isManyToMany(field)) {
    const ids: JsonObject = { type: 'array', items: ID, maxItems: MAX_LINKS };
    return [
      [
        field.name,
        entry ? { anyOf: [ids, { type: 'array', items: entry }], description: 'Ids; with populate the entries' } : ids,
      ],
    ];
  }
  const shown: readonly [string, Json][] = !entry
    ? []
    : field.relation_type === 'has_many'
      ? [
          [
            field.name,
            whole({ type: 'array', items: entry, maxItems: MAX_MANY }, `The first ${MAX_MANY} related entries`),
          ],
        ]
      : [[field.name, whole({ anyOf: [entry, { type: 'null' }] }, 'The related entry')]];
  return isStored(field) ? [[keyOf(field), readValue(field)], ...shown] : shown;
}

function readValue(field: FieldDefinition): JsonObject {
  const schema = constrained(field);
  return field.required === true ? schema : nullable(schema);
}

/** The schema of a field in a body. A decimal is accepted as a string and as a number. */
function writtenValue(field: FieldDefinition): JsonObject {
  if (isManyToMany(field))
    return { type: 'array', items: ID, maxItems: MAX_LINKS, ...(field.required === true && { minItems: 1 }) };
  const schema = constrained(field);
  const value: JsonObject = field.field_type === 'decimal' ? { anyOf: [schema, { type: 'number' }] } : schema;
  const described = field.default === undefined ? value : { ...value, default: field.default };
  return field.required === true ? described : nullable(described);
}

/** The schema of a field's value when it is not null, with its validation rules. */
function constrained(field: FieldDefinition): JsonObject {
  const { schema } = FIELD_TYPE_SPECS[field.field_type];
  const rules = (field.validation ?? []).map((rule) => ruleOf(rule, field));
  const notes = [
    ...(field.unique === true ? ['no two entries share it'] : []),
    ...(field.field_type === 'media'
      ? ['id of a media file']
      : field.field_type === 'relation'
        ? [`id of an entry of ${field.relation_to ?? ''}`]
        : []),
    ...rules.flatMap(({ note }) => note ?? []),
  ];
  return {
    ...schema,
    ...(Object.assign({}, ...rules.map(({ keywords }) => keywords)) as JsonObject),
    ...(notes.length > 0 && { description: sentence(notes.join('; ')) }),
  };
}

/** A validation rule as JSON Schema keywords, or as a note where JSON Schema has no keyword for it. */
function ruleOf(
  { rule, params }: ValidationRule,
  { field_type: type, required }: FieldDefinition,
): { readonly keywords?: JsonObject; readonly note?: string } {
  const { value, values, pattern, op, field } = params;
  const shown = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  switch (rule) {
    case 'enum':
      return values === undefined ? {} : { keywords: { enum: values } };
    case 'min':
      return typeof value === 'number' && type !== 'decimal'
        ? { keywords: { minimum: value } }
        : { note: `at least ${shown}` };
    case 'max':
      return typeof value === 'number' && type !== 'decimal'
        ? { keywords: { maximum: value } }
        : { note: `at most ${shown}` };
    case 'min_length':
      // The rule does not apply to the empty text of an optional field.
      return value === undefined
        ? {}
        : required === true
          ? { keywords: { minLength: value } }
          : { note: `at least ${shown} characters unless empty` };
    case 'max_length':
      return value === undefined ? {} : { keywords: { maxLength: value } };
    case 'pattern':
      if (typeof pattern !== 'string') return {};
      if (!isJavaScriptPattern(pattern)) return { note: `matches the RE2 pattern ${pattern}` };
      return { keywords: { pattern: required === true ? pattern : `^$|(?:${pattern})` } };
    default:
      return typeof op === 'string' && typeof field === 'string'
        ? { note: `${ownValue(COMPARISONS, op) ?? op} ${field}` }
        : {};
  }
}

const COMPARISONS: Readonly<Record<string, string>> = {
  eq: 'equals',
  ne: 'differs from',
  gt: 'greater than',
  gte: 'at least',
  lt: 'less than',
  lte: 'at most',
};

/** Whether the RE2 pattern is also a valid pattern of JSON Schema, which uses JavaScript's dialect. */
function isJavaScriptPattern(pattern: string): boolean {
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
