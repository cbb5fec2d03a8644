import type { Exchange } from './exchange.ts';
import type { Serving } from './respond.ts';
import type { Answer } from './route.ts';

const POLICY = 'Content-Security-Policy';

/**
 * Sends an answer; of a streamed answer only the head. `constant` holds the headers of every answer, as alternating
 * names and values.
 * @returns the number of bytes of the body
 * @throws Error when a header value is invalid in HTTP; nothing is sent then
 */
export function sendAnswer(
  { request, response, requestId, correlationId }: Exchange,
  answer: Answer,
  constant: readonly string[],
  { api, cors }: Serving,
): number {
  const { status, stream, trailers } = answer;
  // An answer's own policy replaces the default: a browser would apply both.
  const headers = answer.headers?.[POLICY] === undefined ? constant.slice() : without(constant, POLICY);
  headers.push('X-Request-Id', requestId, 'X-Correlation-ID', correlationId);
  if (request.headers.origin !== undefined) headers.push(...cors.simple(request.headers.origin));

  const text = answer.json ?? answer.text ?? (answer.body === undefined ? undefined : JSON.stringify(answer.body));
  let cached = false;
  let typed = false;
  for (const name in answer.headers) {
    const value = answer.headers[name];
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
  // Browsers may cache answers of the Content API, but must revalidate them by ETag.
  if (!cached) headers.push('Cache-Control', api === 'content' && status < 400 ? 'private, no-cache' : 'no-store');

  if (status === 204 || status === 304) {
    response.writeHead(status, headers);
    response.end();
    return 0;
  }
  if (stream) {
    // Node throws for a `Trailer` header on an answer that is not chunked.
    if (trailers && request.method !== 'HEAD' && request.httpVersion !== '1.0')
      headers.push('Trailer', trailers.names.join(', '));
    response.writeHead(status, headers);
    return 0;
  }
  const bytes = text === undefined ? 0 : Buffer.byteLength(text);
  if (text !== undefined && !typed)
    headers.push(
      'Content-Type',
      answer.text === undefined ? 'application/json; charset=utf-8' : 'text/plain; charset=utf-8',
    );
  headers.push('Content-Length', String(bytes));
  response.writeHead(status, headers);
  if (text === undefined || request.method === 'HEAD') response.end();
  else response.end(text);
  return bytes;
}

function without(headers: readonly string[], name: string): string[] {
  const at = headers.indexOf(name);
  return at < 0 ? headers.slice() : headers.toSpliced(at, 2);
}
