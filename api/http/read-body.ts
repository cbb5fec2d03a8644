import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ErrorCode, refusal } from '../../domain/errors.ts';

/**
 * How much of the rest of a body that is too large is read and dropped, so that the client can read its 413. The
 * connection of a longer body is closed.
 */
const MAX_DRAINED_BYTES = 33_554_432;

const EMPTY = Buffer.alloc(0);

/**
 * Reads the body. Bytes are counted as they arrive, so that a chunked body is limited as well. `limit` is in bytes.
 * @throws `tooLarge` (default `body_too_large`) past the limit; `bad_request` when the client closes the connection
 * early
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { limit, tooLarge = 'body_too_large' }: { readonly limit: number; readonly tooLarge?: ErrorCode | undefined },
): Promise<Buffer> | Buffer {
  if (!hasBody(request)) return EMPTY;
  const declared = request.headers['content-length'];
  if (declared !== undefined && Number(declared) > limit)
    throw unreadBodyRefusal({ code: tooLarge, request, response, bytes: Number(declared) });
  // The request of a client that has disconnected emits no more events.
  if (request.destroyed) throw refusal('bad_request', { message: 'the request ended early' });
  if (request.headers.expect !== undefined) response.writeContinue();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= limit) {
        chunks.push(chunk);
        return;
      }
      chunks.length = 0;
      if (bytes > limit + MAX_DRAINED_BYTES) {
        request.pause();
        reject(unreadBodyRefusal({ code: tooLarge, request, response, bytes }));
      }
    });
    request.on('end', () => {
      if (bytes > limit) reject(refusal(tooLarge));
      else resolve(chunks.length === 1 ? (chunks[0] ?? EMPTY) : Buffer.concat(chunks, bytes));
    });
    request.on('close', () => {
      if (!request.readableEnded) reject(refusal('bad_request', { message: 'the request ended early' }));
    });
    request.on('error', (error) => {
      reject(refusal('bad_request', { message: 'the request ended early', cause: error }));
    });
  });
}

/** Whether the headers announce a body that is not empty. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const declared = headers['content-length'];
  return declared === undefined ? headers['transfer-encoding'] !== undefined : declared !== '0';
}

/**
 * The refusal of a body that is not read to its end. After the response Node reads and drops a rest of moderate size;
 * for a larger one the connection is closed.
 */
function unreadBodyRefusal({
  code,
  request,
  response,
  bytes,
}: {
  readonly code: ErrorCode;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly bytes: number;
}): Error {
  const unread = request.headers.expect !== undefined || bytes > MAX_DRAINED_BYTES;
  return refusal(code, unread && !response.headersSent ? { headers: { Connection: 'close' } } : {});
}

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]+)/i;

/** @throws `unsupported_media_type` unless the body is declared as UTF-8 JSON without a content encoding */
export function requireJsonType(request: IncomingMessage): void {
  const type = request.headers['content-type'];
  const charset = type === undefined ? undefined : CHARSET.exec(type)?.[1]?.toLowerCase();
  const plain =
    type !== undefined && JSON_TYPE.test(type) && (charset === undefined || charset === 'utf-8' || charset === 'utf8');
  if (!plain || encoded(request)) throw refusal('unsupported_media_type');
}

/** @throws `unsupported_media_type` unless the media type is in `allowed` and the body has no content encoding */
export function requireMediaType(request: IncomingMessage, allowed: readonly string[]): void {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type === undefined || !allowed.includes(type) || encoded(request)) throw refusal('unsupported_media_type');
}

/** Parses bytes as JSON. @throws the refusal `malformed` when they are not UTF-8 JSON */
export function parseJson(bytes: Buffer, malformed: ErrorCode): unknown {
  if (!isUtf8(bytes)) throw refusal(malformed);
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    // Drop the parser's message: it quotes the body, which may contain a secret.
    throw refusal(malformed, { cause: error instanceof SyntaxError ? undefined : error });
  }
}

function encoded(request: IncomingMessage): boolean {
  const encoding = request.headers['content-encoding'];
  return encoding !== undefined && encoding.toLowerCase() !== 'identity';
}
