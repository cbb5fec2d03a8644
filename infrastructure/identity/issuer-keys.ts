import { type JWK, type JWTVerifyGetKey, createLocalJWKSet } from 'jose';
import { createSharedRun } from '../../application/concurrency/shared-run.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Outbound } from '../../application/ports/outbound.ts';
import { refusal } from '../../domain/errors.ts';

export type IssuerKeysOptions = {
  /** Base URL without a trailing slash. */
  readonly issuer: string;
  readonly outbound: Pick<Outbound, 'send'>;
  readonly now: () => Date;
  readonly logger: Logger;
  /** Aborts running requests. */
  readonly signal: AbortSignal;
};

export type IssuerKeys = {
  /**
   * The known keys; fetched on first use.
   * @throws `unavailable` when no keys are known, or when they could not be refreshed for 24 hours
   */
  get(): Promise<JWTVerifyGetKey>;
  /**
   * Fetches the keys again when a token names an unknown key, at most once a minute.
   * @returns whether they were fetched
   */
  refetch(): Promise<boolean>;
};

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 256 * 1024;
const MAX_KEYS = 100;
const REFETCH_MS = 60_000;
/** Keys older than this are refreshed in the background, so that keys the issuer withdrew stop working. */
const FRESH_MS = 10 * 60_000;
/** Keys older than this are not used, even when the issuer is unreachable. */
const STALE_MS = 24 * 3_600_000;
/** Pause after a failed first fetch. */
const RETRY_MS = 10_000;

/**
 * Creates the public keys of one issuer, fetched from `{issuer}/.well-known/jwks.json`. Only the first request waits
 * for the issuer; later requests use the keys in memory.
 */
export function createIssuerKeys({ issuer, outbound, now, logger, signal }: IssuerKeysOptions): IssuerKeys {
  let keySet: { readonly set: JWTVerifyGetKey; readonly fetchedMs: number } | undefined;
  let triedMs = -Infinity;
  let refetchedMs = -Infinity;
  const fetching = createSharedRun(fetchKeys);

  async function fetchKeys(): Promise<boolean> {
    triedMs = now().getTime();
    const answer = await outbound.send({
      method: 'GET',
      url: `${issuer}/.well-known/jwks.json`,
      headers: { accept: 'application/json' },
      maxResponseBytes: MAX_BYTES,
      timeoutMs: TIMEOUT_MS,
      maxRedirects: 0,
      signal,
    });
    const keys =
      answer.kind === 'answered' && answer.status === 200 && !answer.truncated ? publicKeys(answer.body) : undefined;
    if (!keys) {
      const reason = answer.kind === 'answered' ? `answered ${answer.status} without a usable key set` : answer.error;
      if (!signal.aborted)
        logger.warn('the keys of a trusted issuer could not be fetched', {
          issuer,
          reason,
          known: keySet !== undefined,
        });
      return false;
    }
    keySet = { set: createLocalJWKSet({ keys: [...keys] }), fetchedMs: now().getTime() };
    return true;
  }

  return {
    async get() {
      const nowMs = now().getTime();
      const age = keySet ? nowMs - keySet.fetchedMs : Infinity;
      const mayTry = nowMs - triedMs >= (keySet ? REFETCH_MS : RETRY_MS);
      if (keySet && age < STALE_MS) {
        if (age >= FRESH_MS && mayTry) void fetching.run();
        return keySet.set;
      }
      if (fetching.current() ?? mayTry) await fetching.run();
      if (keySet && now().getTime() - keySet.fetchedMs < STALE_MS) return keySet.set;
      throw refusal('unavailable', { headers: { 'Retry-After': String(RETRY_MS / 1000) } });
    },
    async refetch() {
      const nowMs = now().getTime();
      const current = fetching.current();
      if (current) return current;
      if (nowMs - refetchedMs < REFETCH_MS) return false;
      refetchedMs = nowMs;
      return fetching.run();
    },
  };
}

/**
 * The public signature keys of a JSON Web Key Set.
 * @returns undefined when the text is not a key set of at most 100 keys
 */
function publicKeys(text: string): readonly JWK[] | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (
    typeof parsed !== 'object' ||
    parsed === null ||
    !('keys' in parsed) ||
    !Array.isArray(parsed.keys) ||
    parsed.keys.length > MAX_KEYS
  )
    return undefined;
  return parsed.keys.filter(isPublicKey);
}

function isPublicKey(key: unknown): key is JWK {
  if (typeof key !== 'object' || key === null) return false;
  const { kty, use, d, k } = key as Record<string, unknown>;
  return (
    (kty === 'RSA' || kty === 'EC' || kty === 'OKP') &&
    (use === undefined || use === 'sig') &&
    d === undefined &&
    k === undefined
  );
}
