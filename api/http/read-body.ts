import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode } from '../../domain/errors.ts';
import { refusal } from '../../domain/errors.ts';

/** What is left of an over-long body is read and dropped up to here, so that the client can read its 413; then the connection is closed. */
const MAX_DRAINED_BYTES = 33_554_432;

const EMPTY = Buffer.alloc(0);

/**
 * Reads the body; bytes are counted as they arrive, so a chunked body is bounded as well.
 * @throws `tooLarge`, by default `body_too_large`; `bad_request` when the client broke off.
 */
export function readBody(request: IncomingMessage, response: ServerResponse, { limit, tooLarge = 'body_too_large' }: { readonly limit: number; readonly tooLarge?: ErrorCode | undefined }): Promise<Buffer> | Buffer {
  const declared = request.headers['content-length'];
  if (declared === undefined ? request.headers['transfer-encoding'] === undefined : declared === '0') return EMPTY;
  if (declared !== undefined && Number(declared) > limit) throw refuseUnread(tooLarge, request, response, Number(declared));
  // A client that left while the request was looked at will emit nothing any more.
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
        reject(refuseUnread(tooLarge, request, response, bytes));
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

/** Refuses unread: a moderate rest is dropped by Node after the answer, a larger one ends with the connection. */
function refuseUnread(code: ErrorCode, request: IncomingMessage, response: ServerResponse, bytes: number): Error {
  const unread = request.headers.expect !== undefined || bytes > MAX_DRAINED_BYTES;
  return refusal(code, unread && !response.headersSent ? { headers: { Connection: 'close' } } : {});
}

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]+)/i;

/** @throws `unsupported_media_type` unless the body is UTF-8 JSON, not encoded otherwise. */
export function requireJsonType(request: IncomingMessage): void {
  const type = request.headers['content-type'];
  const charset = type === undefined ? undefined : CHARSET.exec(type)?.[1]?.toLowerCase();
  const plain = type !== undefined && JSON_TYPE.test(type) && (charset === undefined || charset === 'utf-8' || charset === 'utf8');
  if (!plain || encoded(request)) throw refusal('unsupported_media_type');
}

/** @throws `unsupported_media_type` unless the media type is one of the list. */
export function requireMediaType(request: IncomingMessage, allowed: readonly string[]): void {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type === undefined || !allowed.includes(type) || encoded(request)) throw refusal('unsupported_media_type');
}

/** Parses bytes as JSON. @throws the given refusal when they are none. */
export function parseJson(bytes: Buffer, malformed: ErrorCode): unknown {
  if (!isUtf8(bytes)) throw refusal(malformed);
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    // The parser's message quotes the body, which may hold a secret.
    throw refusal(malformed, { cause: error instanceof SyntaxError ? undefined : error });
  }
}

function encoded(request: IncomingMessage): boolean {
  const encoding = request.headers['content-encoding'];
  return encoding !== undefined && encoding.toLowerCase() !== 'identity';
}
