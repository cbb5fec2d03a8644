import type { JWK, JWTVerifyGetKey } from 'jose';
import { createLocalJWKSet } from 'jose';
import type { Logger } from '../../application/ports/logger.ts';
import type { Outbound } from '../../application/ports/outbound.ts';
import { refusal } from '../../domain/errors.ts';

export type IssuerKeysOptions = {
  /** Base URL without a slash at its end. */
  readonly issuer: string;
  readonly outbound: Pick<Outbound, 'send'>;
  readonly now: () => Date;
  readonly logger: Logger;
  /** Ends requests under way. */
  readonly signal: AbortSignal;
};

export type IssuerKeys = {
  /** The keys known; fetched on first use. @throws `unavailable` when there are none, or only ones that nobody could confirm for a day */
  get(): Promise<JWTVerifyGetKey>;
  /** Fetches them anew for a key that is not among them, at most once a minute. @returns whether they were fetched */
  refetch(): Promise<boolean>;
};

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 256 * 1024;
const MAX_KEYS = 100;
const REFETCH_MS = 60_000;
/** From then on the keys are fetched anew beside the requests, so that those an issuer took back go. */
const FRESH_MS = 10 * 60_000;
/** So long they serve while the issuer does not answer. */
const STALE_MS = 24 * 3_600_000;
/** A first fetch that failed is not repeated for each request. */
const RETRY_MS = 10_000;

/** The public keys of one issuer, from `{issuer}/.well-known/jwks.json`. Only a first request waits for the issuer; all others are answered from memory. */
export function createIssuerKeys({ issuer, outbound, now, logger, signal }: IssuerKeysOptions): IssuerKeys {
  let held: { readonly set: JWTVerifyGetKey; readonly fetchedMs: number } | undefined;
  let triedMs = -Infinity;
  let refetchedMs = -Infinity;
  let fetching: Promise<boolean> | undefined;

  function fetchKeys(): Promise<boolean> {
    return (fetching ??= fetchOnce().finally(() => {
      fetching = undefined;
    }));
  }

  async function fetchOnce(): Promise<boolean> {
    triedMs = now().getTime();
    const answer = await outbound.send({ method: 'GET', url: `${issuer}/.well-known/jwks.json`, headers: { accept: 'application/json' }, maxResponseBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS, maxRedirects: 0, signal });
    const keys = answer.kind === 'answered' && answer.status === 200 && !answer.truncated ? publicKeys(answer.body) : undefined;
    if (!keys) {
      const reason = answer.kind === 'answered' ? `answered ${answer.status} without a usable key set` : answer.error;
      if (!signal.aborted) logger.warn('the keys of a trusted issuer could not be fetched', { issuer, reason, known: held !== undefined });
      return false;
    }
    held = { set: createLocalJWKSet({ keys: [...keys] }), fetchedMs: now().getTime() };
    return true;
  }

  return {
    async get() {
      const nowMs = now().getTime();
      const age = held ? nowMs - held.fetchedMs : Infinity;
      const mayTry = nowMs - triedMs >= (held ? REFETCH_MS : RETRY_MS);
      if (held && age < STALE_MS) {
        if (age >= FRESH_MS && mayTry) void fetchKeys();
        return held.set;
      }
      if (fetching ?? mayTry) await fetchKeys();
      if (held && now().getTime() - held.fetchedMs < STALE_MS) return held.set;
      throw refusal('unavailable', { headers: { 'Retry-After': String(RETRY_MS / 1000) } });
    },
    async refetch() {
      const nowMs = now().getTime();
      if (fetching) return fetching;
      if (nowMs - refetchedMs < REFETCH_MS) return false;
      refetchedMs = nowMs;
      return fetchKeys();
    },
  };
}

/** Signature keys of a key set; secrets in it (`oct`) are nobody's public key. @returns undefined for text that is no key set of a sensible size */
function publicKeys(text: string): readonly JWK[] | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null || !('keys' in parsed) || !Array.isArray(parsed.keys) || parsed.keys.length > MAX_KEYS) return undefined;
  return parsed.keys.filter(isPublicKey);
}

function isPublicKey(key: unknown): key is JWK {
  if (typeof key !== 'object' || key === null) return false;
  const { kty, use, d, k } = key as Record<string, unknown>;
  return (kty === 'RSA' || kty === 'EC' || kty === 'OKP') && (use === undefined || use === 'sig') && d === undefined && k === undefined;
}
