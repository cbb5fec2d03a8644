import type { TSchema } from '@sinclair/typebox';
import type { ErrorCode } from '../../domain/errors.ts';
import { ERRORS } from '../../domain/errors.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { Route } from './route.ts';
import { parameterNames } from './route-table.ts';

const ERROR_SCHEMA: JsonObject = {
  type: 'object',
  required: ['error'],
  properties: {
    error: { type: 'string', description: 'Message for people' },
    code: { type: 'string', description: 'What clients branch on' },
    fields: { type: 'array', items: { type: 'object', required: ['field', 'message'], properties: { field: { type: 'string' }, message: { type: 'string' } } } },
  },
};

const STATUS_TEXT: Readonly<Record<number, string>> = { 200: 'Success', 201: 'Created', 202: 'Accepted', 204: 'Done, nothing to say', 304: 'Not modified' };

/** The OpenAPI 3.1 document of a table of routes (spec 5, rule 13). */
export function openApiDocument(routes: readonly Route[], { title, version }: { readonly title: string; readonly version: string }): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  const operations = new Set<string>();
  for (const route of routes) {
    // Probes answer alike on both listeners: one path, one operation.
    const item = (paths[route.path] ??= {});
    const method = route.method.toLowerCase();
    if (item[method]) continue;
    if (operations.has(route.operation)) throw new Error(`two routes are named ${route.operation}`);
    operations.add(route.operation);
    item[method] = operation(route);
  }
  return {
    openapi: '3.1.0',
    info: { title, version, description: 'Multi-tenant headless content service that keeps every change.', license: { name: 'UNLICENSED', identifier: 'LicenseRef-UNLICENSED' } },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(({ tag }) => tag))].sort().map((name) => ({ name, description: `Routes of the room ${name}` })),
    paths,
    components: {
      schemas: { Error: ERROR_SCHEMA },
      securitySchemes: {
        session: { type: 'http', scheme: 'bearer', description: 'Session token' },
        cookie: { type: 'apiKey', in: 'cookie', name: 'sys_session', description: 'Session cookie; `__Host-sys_session` with secure cookies' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
    },
  };
}

function operation(route: Route): JsonObject {
  const body = requestBody(route);
  return {
    operationId: route.operation,
    summary: route.summary,
    tags: [route.tag],
    security: security(route),
    parameters: [...pathParameters(route), ...queryParameters(route), ...headerParameters(route)],
    ...(body && { requestBody: body }),
    responses: responses(route),
    ...(route.access.kind !== 'public' && route.access.roles && { 'x-roles': route.access.roles }),
  };
}

function security({ access, api }: Route): Json {
  if (access.kind === 'public') return [];
  if (api === 'admin') return [{ session: [] }, { cookie: [] }];
  return access.kind === 'session' ? [{ session: [] }] : [{ session: [] }, { apiKey: [] }];
}

function pathParameters({ path, params }: Route): readonly JsonObject[] {
  const schemas = propertiesOf(params);
  return parameterNames(path).map((name) => ({ name, in: 'path', required: true, schema: schemas[name] ?? { type: 'string' } }));
}

function queryParameters({ query }: Route): readonly JsonObject[] {
  const required = requiredOf(query);
  return Object.entries(propertiesOf(query)).map(([name, schema]) => {
    const { description, type } = described(schema);
    return { name, in: 'query', required: required.includes(name), schema, ...(description !== undefined && { description }), ...(type === 'object' && { style: 'deepObject', explode: true }) };
  });
}

function headerParameters({ idempotent, reads, method }: Route): readonly JsonObject[] {
  return [
    ...(idempotent ? [{ name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string', minLength: 1, maxLength: 255 } }] : []),
    ...(reads && method === 'GET' ? [{ name: 'X-Min-Position', in: 'header', required: false, schema: { type: 'string', pattern: '^[0-9]{20}$' } }] : []),
  ];
}

function requestBody({ body, rawBody, bodyOptional }: Route): JsonObject | undefined {
  if (rawBody) return { required: !bodyOptional, content: Object.fromEntries(rawBody.map((type) => [type, { schema: {} }])) };
  return body && { required: !bodyOptional, content: { 'application/json': { schema: toJson(body) } } };
}

function responses(route: Route): JsonObject {
  const answers: Record<string, JsonObject> = {};
  for (const [status, schema] of Object.entries(route.answers)) {
    const streamed = status === '200' && route.streamed !== undefined ? { [route.streamed]: { schema: { type: 'string' } } } : {};
    answers[status] = { description: STATUS_TEXT[Number(status)] ?? 'Answer', ...(schema && { content: { 'application/json': { schema: toJson(schema) }, ...streamed } }) };
  }
  const byStatus = new Map<number, string[]>();
  for (const code of refusalsOf(route)) byStatus.set(ERRORS[code].status, [...(byStatus.get(ERRORS[code].status) ?? []), `\`${code}\`: ${ERRORS[code].message}`]);
  for (const [status, lines] of [...byStatus].sort(([a], [b]) => a - b)) {
    answers[String(status)] = { description: [...new Set(lines)].join('; '), content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } };
  }
  return answers;
}

/** What every route with such a declaration may answer, and what it declares itself. */
function refusalsOf(route: Route): readonly ErrorCode[] {
  const { access, params, query, body, rawBody } = route;
  const credential: readonly ErrorCode[] = access.kind === 'public' ? [] : ['authentication_required', ...(access.roles ? (['insufficient_permissions'] as const) : [])];
  const input: readonly ErrorCode[] = body ? [route.malformedJson ?? 'invalid_json_body', 'body_too_large', 'unsupported_media_type', ...(route.refuseBody ? [] : (['validation_failed'] as const))] : [];
  return [
    ...credential,
    ...(access.kind === 'session' ? [access.refusal ?? ('session_required' as const)] : []),
    ...(params ? [route.notFound ?? ('not_found' as const)] : []),
    ...(query ? (['invalid_query_parameter'] as const) : []),
    ...(route.capability !== undefined ? (['payment_required'] as const) : []),
    ...input,
    ...(rawBody ? (['body_too_large', 'unsupported_media_type'] as const) : []),
    ...(route.idempotent ? (['idempotency_in_progress', 'idempotency_key_reused'] as const) : []),
    ...(route.refusals ?? []),
    'internal',
  ];
}

function propertiesOf(schema: TSchema | undefined): Readonly<Record<string, Json>> {
  const properties = schema ? toJson(schema)['properties'] : undefined;
  return isObject(properties) ? properties : {};
}

function requiredOf(schema: TSchema | undefined): readonly Json[] {
  const required = schema ? toJson(schema)['required'] : undefined;
  return isArray(required) ? required : [];
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function described(schema: Json): { readonly description?: string; readonly type?: string } {
  if (typeof schema !== 'object' || schema === null || !('type' in schema || 'description' in schema)) return {};
  return {
    ...('description' in schema && typeof schema.description === 'string' && { description: schema.description }),
    ...('type' in schema && typeof schema.type === 'string' && { type: schema.type }),
  };
}

/** A TypeBox schema as plain JSON: its symbols stay behind. */
function toJson(schema: TSchema): JsonObject {
  return JSON.parse(JSON.stringify(schema)) as JsonObject;
}
