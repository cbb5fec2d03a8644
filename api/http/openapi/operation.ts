import { ERRORS, type ErrorCode } from '../../../domain/errors.ts';
import type { Json, JsonObject } from '../../../domain/json.ts';
import { parameterNames } from '../route-table.ts';
import type { Route } from '../route.ts';
import type { Components } from './components.ts';
import { refusalResponse } from './errors.ts';
import { type RequestHeader, type ResponseHeader, requestHeaders, responseHeaders } from './headers.ts';
import { propertiesOf } from './json-schema.ts';
import { refusalsOf } from './refusals.ts';
import { securityOf } from './security.ts';

const STATUS_TEXT: Readonly<Record<number, string>> = {
  200: 'Success',
  201: 'Created',
  202: 'Accepted',
  204: 'Success, without a body',
  207: 'Partial success',
  304: 'Not modified',
  503: 'Unavailable',
};
const LIMITS: readonly ResponseHeader[] = [
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'RateLimit-Policy',
];

/** Describes one route as an operation of the document. */
export function operationOf(route: Route, components: Components): JsonObject {
  const body = requestBody(route, components);
  return {
    operationId: route.operation,
    summary: route.summary,
    tags: [route.tag],
    security: securityOf(route),
    parameters: [...pathParameters(route), ...queryParameters(route), ...requestHeaders(requestHeadersOf(route))],
    ...(body && { requestBody: body }),
    responses: responsesOf(route, components),
    ...(route.access.kind !== 'public' && route.access.roles && { 'x-roles': route.access.roles }),
    ...(route.feature !== undefined && { 'x-feature': route.feature }),
    ...(route.capability !== undefined && { 'x-capability': route.capability }),
  };
}

function pathParameters({ path, params }: Route): readonly JsonObject[] {
  const declared = new Map(propertiesOf(params).map(({ name, schema }) => [name, schema]));
  return parameterNames(path).map((name) => ({
    name,
    in: 'path',
    required: true,
    ...parameter(declared.get(name) ?? { type: 'string' }),
  }));
}

function queryParameters({ query }: Route): readonly JsonObject[] {
  return propertiesOf(query).map(({ name, required, schema }) => ({
    name,
    in: 'query',
    required,
    ...parameter(schema),
  }));
}

/** An object is sent as `name[member]=…`. */
function parameter({ description, ...schema }: JsonObject): JsonObject {
  return {
    ...(description !== undefined && { description }),
    ...((schema['type'] === 'object' || schema['type'] === undefined) && { style: 'deepObject', explode: true }),
    schema: schema['type'] === undefined && Object.keys(schema).length === 0 ? { type: 'object' } : schema,
  };
}

function requestHeadersOf(route: Route): readonly RequestHeader[] {
  const { access, api, idempotent, reads, method, responses, refusals = [] } = route;
  return [
    ...(access.kind !== 'public' && api === 'admin' ? (['X-Tenant-ID'] as const) : []),
    ...(idempotent ? (['Idempotency-Key'] as const) : []),
    ...(reads && method === 'GET' ? (['X-Min-Position'] as const) : []),
    ...(Object.hasOwn(responses, 304) ? (['If-None-Match'] as const) : []),
    ...(refusals.includes('entry_changed') ? (['If-Match'] as const) : []),
    ...(route.requestHeaders ?? []),
  ];
}

function requestBody({ body, rawBody, bodyOptional }: Route, components: Components): JsonObject | undefined {
  if (rawBody)
    return {
      required: bodyOptional !== true,
      content: Object.fromEntries(
        rawBody.map((type) => [type, { schema: { type: 'string', contentMediaType: type } }]),
      ),
    };
  return (
    body && {
      required: bodyOptional !== true,
      content: { 'application/json': media(components.schema(body), components) },
    }
  );
}

function responsesOf(route: Route, components: Components): JsonObject {
  const responses: [string, Json][] = Object.entries(route.responses).map(([status, schema]) => {
    const streamed =
      status === '200' && route.streamed !== undefined ? { [route.streamed]: { schema: { type: 'string' } } } : {};
    return [
      status,
      {
        description: STATUS_TEXT[Number(status)] ?? 'Response',
        headers: responseHeaders(responseHeadersOf(route, Number(status))),
        ...(schema && { content: { 'application/json': media(components.schema(schema), components), ...streamed } }),
      },
    ];
  });
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of refusalsOf(route))
    byStatus.set(ERRORS[code].status, [...(byStatus.get(ERRORS[code].status) ?? []), code]);
  const refusals = [...byStatus]
    .filter(([status]) => !Object.hasOwn(route.responses, status))
    .toSorted(([a], [b]) => a - b);
  return Object.fromEntries([
    ...responses,
    ...refusals.map(([status, codes]): [string, Json] => [String(status), refusalResponse(status, codes, components)]),
  ]);
}

function responseHeadersOf(route: Route, status: number): readonly ResponseHeader[] {
  const { method, responses, query } = route;
  return [
    'X-Request-Id',
    'X-Correlation-ID',
    ...LIMITS,
    ...(method === 'GET' ? [] : (['X-Commit-Position', 'X-Projection-Lag'] as const)),
    ...(Object.hasOwn(responses, 304) ? (['ETag'] as const) : []),
    ...(status === 200 && propertiesOf(query).some(({ name }) => name === 'count') ? (['X-Total-Count'] as const) : []),
    ...(status === 503 ? (['Retry-After'] as const) : []),
    ...(status === 204 ? [] : (route.responseHeaders ?? [])),
  ];
}

/** A schema with an example. A component has its own example. */
function media(schema: JsonObject, components: Components): JsonObject {
  const example = schema['$ref'] === undefined ? components.example(schema) : undefined;
  return { schema, ...(example !== undefined && { example }) };
}
