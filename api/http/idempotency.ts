import { createHash } from 'node:crypto';
import type { Json } from '../../domain/json.ts';
import { refusal } from '../../domain/errors.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Answer } from './route.ts';

/** What a repeated request is known by. */
export type IdempotencyScope = { readonly tenant: string; readonly route: string; readonly caller: string; readonly key: string };

/** An answer as it is kept for replays; holds no secret. */
export type KeptAnswer = { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string };

/** Keeps what became of keyed requests for 24 hours; what a dead process had begun becomes free again after a time of the store's choice. */
export type IdempotencyStore = {
  begin(scope: IdempotencyScope, bodyHash: string): Promise<
    { readonly kind: 'fresh'; readonly attempt: string } | { readonly kind: 'replay'; readonly answer: KeptAnswer } | { readonly kind: 'mismatch' } | { readonly kind: 'in_progress' }
  >;
  complete(scope: IdempotencyScope, attempt: string, answer: KeptAnswer): Promise<void>;
  /** The request had no effect: the key is free again. */
  abandon(scope: IdempotencyScope, attempt: string): Promise<void>;
};

/** Members that are shown once and never replayed (spec 4 A: a replayed answer never repeats a secret). */
const SECRETS = ['raw_key', 'raw_token'];

const KEY = /^[\x20-\x7e]{1,255}$/;

/**
 * Runs `perform` once per key and body (spec 4, general rules); successes are replayed, refusals are not kept.
 * @throws `invalid_header`, `idempotency_key_reused`, `idempotency_in_progress`
 */
export async function withIdempotency(
  request: { readonly scope: IdempotencyScope; readonly bytes: Buffer; readonly perform: () => Promise<Answer> },
  { store, logger }: { readonly store: IdempotencyStore; readonly logger: Logger },
): Promise<Answer> {
  const { scope, perform } = request;
  if (!KEY.test(scope.key)) throw refusal('invalid_header', { message: 'Idempotency-Key must be 1 to 255 printable characters' });
  const begun = await store.begin(scope, createHash('sha256').update(request.bytes).digest('hex'));
  if (begun.kind === 'mismatch') throw refusal('idempotency_key_reused');
  if (begun.kind === 'in_progress') throw refusal('idempotency_in_progress', { headers: { 'Retry-After': '1' } });
  if (begun.kind === 'replay') {
    const { status, body, headers } = begun.answer;
    return { status, json: body === '' ? undefined : body, headers: { ...headers, 'Idempotency-Replayed': 'true' } };
  }
  let answer: Answer;
  try {
    answer = await perform();
  } catch (error) {
    await store.abandon(scope, begun.attempt).catch((cause: unknown) => {
      logger.warn('an idempotency key could not be given up', { error: String(cause) });
    });
    throw error;
  }
  // The effect is there: failing to remember it must not turn the answer into an error.
  await store.complete(scope, begun.attempt, toKept(answer)).catch((cause: unknown) => {
    logger.error('an idempotent answer could not be kept', { error: String(cause) });
  });
  return answer;
}

function toKept(answer: Answer): KeptAnswer {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(answer.headers ?? {})) if (typeof value === 'string' && name.toLowerCase() !== 'set-cookie') headers[name] = value;
  if (answer.commit) headers['X-Commit-Position'] = answer.commit.position;
  return { status: answer.status, body: bodyText(answer), headers };
}

function bodyText(answer: Answer): string {
  if (answer.json !== undefined) return SECRETS.some((name) => answer.json?.includes(name)) ? withoutSecrets(JSON.parse(answer.json) as Json) : answer.json;
  return answer.body === undefined ? '' : withoutSecrets(answer.body);
}

function withoutSecrets(body: Json): string {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return JSON.stringify(body);
  return JSON.stringify(Object.fromEntries(Object.entries(body).filter(([name]) => !SECRETS.includes(name))));
}
