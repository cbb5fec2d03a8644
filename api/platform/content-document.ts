import type { TSchema } from '@sinclair/typebox';
import type { ContentTypeDefinition } from '../../domain/content/definition.ts';
import { storedFields } from '../../domain/content/entry-fields.ts';
import { FILTER_OPERATORS } from '../../domain/content/entry-query.ts';
import { FIELD_TYPE_SPECS, isManyToMany } from '../../domain/content/field-types.ts';
import { typeIdentifiers } from '../../domain/content/type-identifiers.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import { dataSchemasOf } from '../content/content-type-schemas.ts';
import { Entry, WrittenEntry } from '../content/entry-schemas.ts';
import { exampleOf } from '../http/openapi/example-of.ts';
import { isObject, toJson } from '../http/openapi/json-schema.ts';
import { prune } from '../http/openapi/prune.ts';
import type { OpenApiDocument } from '../http/openapi.ts';
import { contentTypePaths } from './content-type-paths.ts';

const SCHEMAS = '#/components/schemas/';
const LISTS: ReadonlySet<string> = new Set(['$in', '$notIn', '$between']);
const SYSTEM = ['_id', '_status', '_slug', '_version', '_created_at', '_updated_at', '_published_at'];

/**
 * Adds the paths and schemas of content types to the generic ones of the document. Types whose REST transport is off
 * are left out. A relation to a type outside the list is described by its ids.
 */
export function documentWithContentTypes(
  document: OpenApiDocument,
  types: readonly ContentTypeDefinition[],
): OpenApiDocument {
  const served = types
    .filter(({ transports }) => transports?.rest !== 'off')
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const declaredSchemas = isObject(document.components['schemas']) ? document.components['schemas'] : {};
  const names = typeIdentifiers(
    served.map(({ name }) => name),
    { usedIdentifiers: Object.keys(declaredSchemas), suffixes: ['Entry', 'Written', 'Create', 'Update', 'Filters'] },
  );
  const entries = new Map(
    served
      .filter(({ transports }) => transports?.rest !== 'w')
      .map(({ name }) => [name, `${names.get(name) ?? name}Entry`]),
  );
  const schemas: Record<string, JsonObject> = {};
  const paths: Record<string, OpenApiDocument['paths'][string]> = {};

  for (const definition of served) {
    const name = names.get(definition.name) ?? definition.name;
    const components = {
      entry: `${name}Entry`,
      written: `${name}Written`,
      create: `${name}Create`,
      update: `${name}Update`,
      filters: `${name}Filters`,
    };
    const data = dataSchemasOf(definition, (target) => {
      const entry = entries.get(target);
      return entry === undefined ? undefined : { $ref: SCHEMAS + entry };
    });
    schemas[name] = { ...data.read, description: `The field values of ${definition.display_name ?? definition.name}` };
    schemas[components.entry] = entrySchema(Entry, definition, { title: components.entry, data: name });
    schemas[components.written] = entrySchema(WrittenEntry, definition, {
      title: components.written,
      data: name,
    });
    schemas[components.create] = inputSchema(data.create);
    schemas[components.update] = inputSchema(data.update);
    schemas[components.filters] = filterSchema(definition);
    Object.assign(paths, contentTypePaths(document, definition, components));
  }
  return prune({
    ...document,
    tags: [
      ...document.tags,
      ...served.map(({ name, display_name }) => ({ name, description: `Entries of ${display_name ?? name}` })),
    ],
    paths: { ...paths, ...document.paths },
    components: { ...document.components, schemas: { ...declaredSchemas, ...schemas } },
  });
}

/** The generic schema with the data of the type, and without the members that the type's options exclude. */
function entrySchema(
  generic: TSchema,
  { name, with_draft_publish: drafts }: ContentTypeDefinition,
  { title, data }: { readonly title: string; readonly data: string },
): JsonObject {
  const { properties, required, ...others } = toJson(generic);
  const shown = Object.entries(isObject(properties) ? properties : {}).filter(
    ([member]) => drafts === true || (member !== 'status' && member !== 'published_at'),
  );
  const needed: readonly Json[] = Array.isArray(required) ? required : [];
  return {
    ...others,
    title,
    properties: { ...Object.fromEntries(shown), schema_name: { const: name }, data: { $ref: SCHEMAS + data } },
    required: [
      ...needed,
      ...(drafts === true ? ['status', ...(needed.includes('created_at') ? ['published_at'] : [])] : []),
    ],
  };
}

function inputSchema(data: JsonObject): JsonObject {
  const example = exampleOf(data);
  return {
    type: 'object',
    required: ['data'],
    additionalProperties: false,
    properties: { data },
    ...(example !== undefined && { examples: [{ data: example }] }),
  };
}

/** The schema of `filters`: the operators that each field supports. */
function filterSchema(definition: ContentTypeDefinition): JsonObject {
  const fields = storedFields(definition).map(({ key, definition: field }): [string, Json] => [
    key,
    filterOf(isManyToMany(field) ? 'relation' : field.field_type),
  ]);
  const system = SYSTEM.map((key): [string, Json] => [
    key,
    filterOf(key.endsWith('_at') ? 'datetime' : key === '_version' ? 'integer' : key === '_id' ? 'uuid' : 'text'),
  ]);
  return { type: 'object', additionalProperties: false, properties: Object.fromEntries([...fields, ...system]) };
}

function filterOf(type: keyof typeof FIELD_TYPE_SPECS): JsonObject {
  const { ordered, textual } = FIELD_TYPE_SPECS[type];
  const operators = FILTER_OPERATORS.filter((operator) => {
    if (operator === '$null' || operator === '$notNull') return true;
    if (type === 'json') return false;
    if (operator === '$contains' || operator === '$startsWith' || operator === '$endsWith') return textual;
    return ordered || ['$eq', '$ne', '$in', '$notIn'].includes(operator);
  });
  const members = operators.map((operator): [string, Json] => [
    operator,
    LISTS.has(operator) ? { type: 'string', description: 'Separated by commas' } : { type: 'string' },
  ]);
  const conditions: JsonObject = {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(members),
  };
  return type === 'json' ? conditions : { anyOf: [{ type: 'string' }, conditions] };
}
