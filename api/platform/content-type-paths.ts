import type { ContentTypeDefinition } from '../../domain/content/definition.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import { ownValue } from '../../domain/own-value.ts';
import { isList, isObject, mapSchema } from '../http/openapi/json-schema.ts';
import type { OpenApiDocument, PathItem } from '../http/openapi.ts';

const GENERIC = '/api/v1/content/{schema}';
const SCHEMAS = '#/components/schemas/';

/**
 * The generic operations that are repeated for a content type, by the part of the path after the type, with the
 * condition for the type. The responses of all other operations do not depend on the type.
 */
const TYPED: Readonly<Record<string, (definition: ContentTypeDefinition) => boolean>> = {
  '': always,
  '/cursor': always,
  '/bulk': always,
  '/{id}': always,
  '/{id}/publish': hasDrafts,
  '/{id}/unpublish': hasDrafts,
  '/{id}/archive': hasDrafts,
  '/{id}/unarchive': hasDrafts,
  '/{id}/undelete': ({ with_soft_delete }) => with_soft_delete === true,
  '/{id}/revisions/{rev_id}/restore': always,
};

/** The names of the components of one content type. */
export type TypedNames = {
  readonly entry: string;
  readonly written: string;
  readonly create: string;
  readonly update: string;
  readonly filters: string;
};

/**
 * The operations of one content type: the generic ones of the document, with its name in the path and its schemas in
 * bodies and responses.
 */
export function contentTypePaths(
  document: OpenApiDocument,
  definition: ContentTypeDefinition,
  names: TypedNames,
): { readonly [path: string]: PathItem } {
  const paths: [string, PathItem][] = [];
  for (const [rest, applies] of Object.entries(TYPED)) {
    const item = applies(definition) ? ownValue(document.paths, GENERIC + rest) : undefined;
    const operations = Object.entries(item ?? {}).filter(([method]) => isOpen(definition, method));
    if (operations.length === 0) continue;
    paths.push([
      `/api/v1/content/${definition.name}${rest}`,
      Object.fromEntries(
        operations.map(([method, operation]) => [method, typedOperation(operation, definition, names)]),
      ),
    ]);
  }
  return Object.fromEntries(paths);
}

/** Whether the REST transport of the type allows the method. */
function isOpen({ transports }: ContentTypeDefinition, method: string): boolean {
  const mode = transports?.rest ?? 'rw';
  return mode === 'rw' || mode === (method === 'get' ? 'r' : 'w');
}

function typedOperation(
  operation: JsonObject,
  { name, display_name }: ContentTypeDefinition,
  names: TypedNames,
): JsonObject {
  const { operationId, summary, parameters, requestBody, responses } = operation;
  const input = operationId === 'updateEntry' ? names.update : names.create;
  const typed = (value: Json | undefined): Json =>
    withoutExamples(mapSchema(value ?? null, (object) => renamed(object, names, input)));
  return {
    ...operation,
    operationId: `${text(operationId)}_${name}`,
    summary: `${text(summary)}: ${display_name ?? name}`,
    tags: [name],
    parameters: (isList(parameters) ? parameters : [])
      .filter((parameter) => !isObject(parameter) || parameter['name'] !== 'schema')
      .map((parameter) => filtered(parameter, names)),
    ...(requestBody !== undefined && { requestBody: typed(requestBody) }),
    responses: typed(responses),
  };
}

function renamed(object: JsonObject, { entry, written }: TypedNames, input: string): JsonObject {
  if (object['$ref'] === `${SCHEMAS}WrittenEntry`) return { $ref: SCHEMAS + written };
  if (object['$ref'] === `${SCHEMAS}Entry`) return { $ref: SCHEMAS + entry };
  return object['$ref'] === `${SCHEMAS}EntryInput` ? { $ref: SCHEMAS + input } : object;
}

/**
 * Removes the generic examples: they may show fields that the type does not have. Its components have their own
 * examples.
 */
function withoutExamples(value: Json): Json {
  return mapSchema(value, ({ example: _example, ...others }) => others);
}

function filtered(parameter: Json, { filters }: TypedNames): Json {
  return isObject(parameter) && parameter['name'] === 'filters'
    ? { ...parameter, schema: { $ref: SCHEMAS + filters } }
    : parameter;
}

function always(): boolean {
  return true;
}

function hasDrafts({ with_draft_publish }: ContentTypeDefinition): boolean {
  return with_draft_publish === true;
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
