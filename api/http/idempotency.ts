import { createHash } from 'node:crypto';
import { v7 } from 'uuid';
import type {
  FreshAttempt,
  IdempotencyScope,
  IdempotencyStore,
  StoredResponse,
} from '../../application/ports/idempotency-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { reasonOf } from '../../application/ports/transient-errors.ts';
import type { CommandContext } from '../../domain/context.ts';
import { isAppError, refusal } from '../../domain/errors.ts';
import type { Json } from '../../domain/json.ts';
import type { RouteResponse } from './route.ts';

/** Members of a response that are shown once. They are not stored, so that a replay does not repeat them. */
const SECRETS = ['raw_key', 'raw_token'];

const KEY = /^[\x20-\x7e]{1,255}$/;

/** The part of a command's context that each attempt of one request has in common. */
export type RepeatableContext = Pick<CommandContext, 'causationId' | 'now' | 'newId' | 'repeatable'>;

export type IdempotentRequest = {
  readonly scope: IdempotencyScope;
  readonly requestId: string;
  readonly bytes: Buffer;
  /** Performs the request. Its commands run in the given context. */
  readonly perform: (context: RepeatableContext) => Promise<RouteResponse>;
};

/**
 * Runs `perform` once per key and body. A repeated request gets the stored response of a success. A refusal frees the
 * key, because nothing was written. After any other failure, or when the process died, the outcome is unknown: the next
 * attempt has the same ids and finds what an earlier one has written.
 * @throws `invalid_header`, `idempotency_key_reused`, `idempotency_in_progress`
 */
export async function withIdempotency(
  request: IdempotentRequest,
  { store, logger }: { readonly store: IdempotencyStore; readonly logger: Logger },
): Promise<RouteResponse> {
  const { scope, perform } = request;
  if (!KEY.test(scope.key))
    throw refusal('invalid_header', { message: 'Idempotency-Key must be 1 to 255 printable characters' });
  const bodyHash = createHash('sha256').update(request.bytes).digest('hex');
  const begun = await store.begin(scope, { bodyHash, requestId: request.requestId });
  if (begun.kind === 'mismatch') throw refusal('idempotency_key_reused');
  if (begun.kind === 'in_progress') throw refusal('idempotency_in_progress', { headers: { 'Retry-After': '1' } });
  if (begun.kind === 'replay') {
    const { status, body, headers } = begun.response;
    return { status, json: body === '' ? undefined : body, headers: { ...headers, 'Idempotency-Replayed': 'true' } };
  }
  const earlier = { wasFound: false };
  let response: RouteResponse;
  try {
    response = await perform(
      repeatableContext(begun, () => {
        earlier.wasFound = true;
      }),
    );
  } catch (error) {
    const hadNoEffect = isAppError(error) && error.status < 500 && !begun.isRepeat;
    await store[hadNoEffect ? 'abandon' : 'suspend'](scope, begun.attempt).catch((cause: unknown) => {
      logger.warn('an idempotency key could not be released', { reason: reasonOf(cause) });
    });
    throw error;
  }
  if (earlier.wasFound) response = toReplay(response);
  // The write is done: a failure to store its response must not turn the response into an error.
  await store.complete(scope, begun.attempt, toStored(response)).catch((cause: unknown) => {
    logger.error('an idempotent response could not be stored', { reason: reasonOf(cause) });
  });
  return response;
}

/**
 * Gives every attempt the same time and the same ids: the n-th id depends on the first request and on n only. A command
 * therefore takes the id of what it creates before it does anything that depends on the state.
 */
function repeatableContext(
  { attempt, requestId, begunAt, isRepeat }: FreshAttempt,
  foundEarlier: () => void,
): RepeatableContext {
  let taken = 0;
  return {
    causationId: requestId,
    now: () => begunAt,
    newId() {
      taken += 1;
      const random = createHash('sha256')
        .update(`${requestId} ${String(taken)}`)
        .digest();
      return v7({ msecs: begunAt.getTime(), random });
    },
    repeatable: { attempt, isRepeat, foundEarlier },
  };
}

/** An earlier attempt wrote; its secret is not the one of this response. */
function toReplay(response: RouteResponse): RouteResponse {
  return {
    ...response,
    ...(response.json === undefined && response.body === undefined
      ? {}
      : { body: undefined, json: bodyText(response) }),
    headers: { ...response.headers, 'Idempotency-Replayed': 'true' },
  };
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
