import { type ErrorCode, refusal } from '../../domain/errors.ts';
import { findJsonFlaw } from '../../domain/json-flaw.ts';
import { type CompiledRoute, bodyRefusal, queryRefusal } from './compile-route.ts';
import type { Exchange } from './exchange.ts';
import type { HttpDependencies } from './http-dependencies.ts';
import { parseQuery } from './query-string.ts';
import { hasBody, parseJson, readBody, requireJsonType, requireMediaType } from './read-body.ts';

/**
 * Decodes and validates the path parameters.
 * @throws the route's `notFound`; `bad_request` for invalid percent-encoding
 */
export function readParams({ route, names, checkParams }: CompiledRoute, values: readonly string[]): unknown {
  if (names.length === 0) return {};
  const missing: ErrorCode = route.notFound ?? 'not_found';
  const params: Record<string, string> = {};
  for (let at = 0; at < names.length; at += 1) {
    const value = decodeSegment(values[at] ?? '');
    if (value.includes('\0')) throw refusal(missing);
    params[names[at] ?? ''] = value;
  }
  if (checkParams?.(params)) throw refusal(missing);
  return params;
}

function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    throw refusal('bad_request', { message: 'the path is not percent-encoded UTF-8', cause: error });
  }
}

/**
 * Reads and validates the body of a route that declares one, and sets `exchange.body`.
 * @returns the bytes of the body
 * @throws `unsupported_media_type`, the route's codes for an unreadable or too large body, or its refusal of an invalid
 * one
 */
export async function readRouteBody(
  exchange: Exchange,
  compiled: CompiledRoute,
  { options }: HttpDependencies,
): Promise<Buffer> {
  const { request, response } = exchange;
  const { route, checkBody } = compiled;
  const malformed = route.malformedJson ?? 'invalid_json_body';
  const type = request.headers['content-type'];
  if (type !== undefined || hasBody(request)) {
    if (route.rawBody) requireMediaType(request, route.rawBody);
    else if (hasBody(request)) requireJsonType(request);
  }
  const limit = route.maxBodyBytes ?? (route.rawBody ? options.maxBodyBytes : options.maxJsonBodyBytes);
  const read = readBody(request, response, { limit, tooLarge: route.tooLarge });
  const bytes = read instanceof Promise ? await read : read;
  exchange.bytesIn = bytes.length;
  if (bytes.length === 0 && !route.bodyOptional) throw refusal(malformed);
  if (!checkBody) {
    exchange.body = bytes;
    return bytes;
  }
  const body = bytes.length === 0 ? {} : parseJson(bytes, malformed);
  const flaw = findJsonFlaw(body);
  if (flaw?.kind === 'structure') throw refusal(malformed);
  const problems = flaw
    ? [{ field: flaw.field, message: 'must be well-formed text without NUL', keyword: 'text' }]
    : checkBody(body, bytes.length);
  if (problems) throw bodyRefusal(route, problems);
  exchange.body = body;
  return bytes;
}

/** Parses and validates the query. @throws `invalid_query_parameter` */
export function readQuery({ checkQuery }: CompiledRoute, text: string): unknown {
  const query = parseQuery(text);
  const problems = checkQuery?.(query);
  if (problems) throw queryRefusal(problems);
  return query;
}
