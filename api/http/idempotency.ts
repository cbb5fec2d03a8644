import { createHash } from 'node:crypto';
import type { IdempotencyScope, IdempotencyStore, StoredResponse } from '../../application/ports/idempotency-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { refusal } from '../../domain/errors.ts';
import type { Json } from '../../domain/json.ts';
import type { RouteResponse } from './route.ts';

/** Members of a response that are shown once. They are not stored, so that a replay does not repeat them. */
const SECRETS = ['raw_key', 'raw_token'];

const KEY = /^[\x20-\x7e]{1,255}$/;

/**
 * Runs `perform` once per key and body. A repeated request gets the stored response of a success; refusals are not
 * stored.
 * @throws `invalid_header`, `idempotency_key_reused`, `idempotency_in_progress`
 */
export async function withIdempotency(
  request: { readonly scope: IdempotencyScope; readonly bytes: Buffer; readonly perform: () => Promise<RouteResponse> },
  { store, logger }: { readonly store: IdempotencyStore; readonly logger: Logger },
): Promise<RouteResponse> {
  const { scope, perform } = request;
  if (!KEY.test(scope.key))
    throw refusal('invalid_header', { message: 'Idempotency-Key must be 1 to 255 printable characters' });
  const begun = await store.begin(scope, createHash('sha256').update(request.bytes).digest('hex'));
  if (begun.kind === 'mismatch') throw refusal('idempotency_key_reused');
  if (begun.kind === 'in_progress') throw refusal('idempotency_in_progress', { headers: { 'Retry-After': '1' } });
  if (begun.kind === 'replay') {
    const { status, body, headers } = begun.response;
    return { status, json: body === '' ? undefined : body, headers: { ...headers, 'Idempotency-Replayed': 'true' } };
  }
  let response: RouteResponse;
  try {
    response = await perform();
  } catch (error) {
    await store.abandon(scope, begun.attempt).catch((cause: unknown) => {
      logger.warn('freeing an idempotency key failed', { error: String(cause) });
    });
    throw error;
  }
  // The write is done: a failure to store its response must not turn the response into an error.
  await store.complete(scope, begun.attempt, toStored(response)).catch((cause: unknown) => {
    logger.error('storing an idempotent answer failed', { error: String(cause) });
  });
  return response;
}

function toStored(response: RouteResponse): StoredResponse {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers ?? {}))
    if (typeof value === 'string' && name.toLowerCase() !== 'set-cookie') headers[name] = value;
  if (response.commit) headers['X-Commit-Position'] = response.commit.position;
  return { status: response.status, body: bodyText(response), headers };
}

function bodyText(response: RouteResponse): string {
  if (response.json !== undefined)
    return SECRETS.some((name) => response.json?.includes(name))
      ? withoutSecrets(JSON.parse(response.json) as Json)
      : response.json;
  return response.body === undefined ? '' : withoutSecrets(response.body);
}

function withoutSecrets(body: Json): string {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return JSON.stringify(body);
  return JSON.stringify(Object.fromEntries(Object.entries(body).filter(([name]) => !SECRETS.includes(name))));
}
