import { ownValue } from '../../domain/own-value.ts';
import type { Exchange } from './exchange.ts';
import type { Serving } from './respond.ts';
import type { RouteResponse } from './route.ts';

const POLICY = 'Content-Security-Policy';
const LARGE_BYTES = 65_536;

/**
 * Sends a response; of a streamed response only the head. `constant` holds the headers of every response, as
 * alternating names and values.
 * @returns the number of bytes of the body
 * @throws Error when a header value is invalid in HTTP; `unavailable`, for a write `outcome_unknown`, when clients have
 *   not taken too many bytes of earlier responses. Nothing is sent then.
 */
export function sendResponse(
  { request, response, requestId, correlationId, tenant, compiled, principal }: Exchange,
  routeResponse: RouteResponse,
  constant: readonly string[],
  { api, cors, unsent }: Serving,
): number {
  const { status, stream, trailers } = routeResponse;
  // A response's own policy replaces the default: a browser would apply both.
  const headers = routeResponse.headers?.[POLICY] === undefined ? constant.slice() : without(constant, POLICY);
  headers.push('X-Request-Id', requestId, 'X-Correlation-ID', correlationId);
  if (request.headers.origin !== undefined) headers.push(...cors.simple(request.headers.origin));

  const text =
    routeResponse.json ??
    routeResponse.text ??
    (routeResponse.body === undefined ? undefined : JSON.stringify(routeResponse.body));
  let cached = false;
  let typed = false;
  for (const name in routeResponse.headers) {
    const value = ownValue(routeResponse.headers, name);
    if (
      value === undefined ||
      (request.headers.origin !== undefined && name.startsWith('Access-Control-') && headers.includes(name))
    )
      continue;
    if (name === 'Cache-Control') cached = true;
    else if (name === 'Content-Type') typed = true;
    if (typeof value === 'string') headers.push(name, value);
    else for (const one of value) headers.push(name, one);
  }
  // Browsers may cache responses of the Content API, but must revalidate them by ETag.
  if (!cached) headers.push('Cache-Control', api === 'content' && status < 400 ? 'private, no-cache' : 'no-store');

  if (status === 204 || status === 304) {
    response.writeHead(status, headers);
    response.end();
    return 0;
  }
  if (stream) {
    // Node throws for a `Trailer` header on a response that is not chunked.
    if (trailers && request.method !== 'HEAD' && request.httpVersion !== '1.0')
      headers.push('Trailer', trailers.names.join(', '));
    response.writeHead(status, headers);
    return 0;
  }
  const bytes = text === undefined ? 0 : Buffer.byteLength(text);
  if (text !== undefined && !typed)
    headers.push(
      'Content-Type',
      routeResponse.text === undefined ? 'application/json; charset=utf-8' : 'text/plain; charset=utf-8',
    );
  headers.push('Content-Length', String(bytes));
  const hasBody = text !== undefined && request.method !== 'HEAD';
  if (hasBody)
    unsent.hold(response, {
      tenant: principal && tenant,
      bytes,
      unsafe: compiled?.unsafe === true,
    });
  response.writeHead(status, headers);
  if (!hasBody) response.end();
  // Of a large text, Node would keep the text and its bytes until they are sent.
  else response.end(bytes > LARGE_BYTES ? Buffer.from(text) : text);
  return bytes;
}

function without(headers: readonly string[], name: string): string[] {
  const at = headers.indexOf(name);
  return at < 0 ? headers.slice() : headers.toSpliced(at, 2);
}
