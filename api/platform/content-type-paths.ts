import type { ContentTypeDefinition } from '../../domain/content/definition.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import { isList, isObject, mapSchema } from '../http/openapi/json-schema.ts';
import type { OpenApiDocument, PathItem } from '../http/openapi.ts';

const GENERIC = '/api/v1/content/{schema}';
const SCHEMAS = '#/components/schemas/';

/** Which content types have which of the generic operations, by what follows the type in the path. Others answer nothing of the type's own shape. */
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

/** Names of the components of one content type. */
export type TypedNames = { readonly entry: string; readonly create: string; readonly update: string; readonly filters: string };

/** The operations of one content type, made of the generic ones of the document: its name in the path, its schemas in bodies and answers. */
export function contentTypePaths(document: OpenApiDocument, definition: ContentTypeDefinition, names: TypedNames): { readonly [path: string]: PathItem } {
  const paths: [string, PathItem][] = [];
  for (const [rest, applies] of Object.entries(TYPED)) {
    const item = applies(definition) ? document.paths[GENERIC + rest] : undefined;
    const operations = Object.entries(item ?? {}).filter(([method]) => isOpen(definition, method));
    if (operations.length === 0) continue;
    paths.push([`/api/v1/content/${definition.name}${rest}`, Object.fromEntries(operations.map(([method, operation]) => [method, typedOperation(operation, definition, names)]))]);
  }
  return Object.fromEntries(paths);
}

/** Whether the type's REST mode lets the method in (spec 1, Transports). */
function isOpen({ transports }: ContentTypeDefinition, method: string): boolean {
  const mode = transports?.rest ?? 'rw';
  return mode === 'rw' || mode === (method === 'get' ? 'r' : 'w');
}

function typedOperation(operation: JsonObject, { name, display_name }: ContentTypeDefinition, names: TypedNames): JsonObject {
  const { operationId, summary, parameters, requestBody, responses } = operation;
  const input = operationId === 'updateEntry' ? names.update : names.create;
  const typed = (value: Json | undefined): Json => withoutExamples(mapSchema(value ?? null, (object) => renamed(object, names, input)));
  return {
    ...operation,
    operationId: `${text(operationId)}_${name}`,
    summary: `${text(summary)}: ${display_name ?? name}`,
    tags: [name],
    parameters: (isList(parameters) ? parameters : []).filter((parameter) => !isObject(parameter) || parameter['name'] !== 'schema').map((parameter) => filtered(parameter, names)),
    ...(requestBody !== undefined && { requestBody: typed(requestBody) }),
    responses: typed(responses),
  };
}

function renamed(object: JsonObject, { entry }: TypedNames, input: string): JsonObject {
  if (object['$ref'] === `${SCHEMAS}Entry`) return { $ref: SCHEMAS + entry };
  return object['$ref'] === `${SCHEMAS}EntryInput` ? { $ref: SCHEMAS + input } : object;
}

/** The generic examples show fields that this type may lack; its components carry their own. */
function withoutExamples(value: Json): Json {
  return mapSchema(value, ({ example: _example, ...others }) => others);
}

function filtered(parameter: Json, { filters }: TypedNames): Json {
  return isObject(parameter) && parameter['name'] === 'filters' ? { ...parameter, schema: { $ref: SCHEMAS + filters } } : parameter;
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
