import type { Principal } from '../../domain/identity/principal.ts';
import { SUPER_ADMIN } from '../../domain/identity/roles.ts';
import type { IdentityDependencies } from './dependencies.ts';
import type { IdentityChanges } from './identity-changes.ts';
import type { ApiKeyRecord } from './identity-reads.ts';
import { sessionsRevisionIn } from './session-standing.ts';
import { rolesOf } from './sign-in.ts';
import { csrfToken } from './user-secrets.ts';
import type { BoundedMap, Verdict } from './verdict-cache.ts';
import { createVerdictCache } from './verdict-cache.ts';

/** The credentials as they were sent. */
export type Credentials = {
  readonly api: 'admin' | 'content';
  /** What follows `Authorization: Bearer `. */
  readonly bearer: string | undefined;
  /** `X-API-Key`. */
  readonly apiKey: string | undefined;
  /** Session cookie; looked at on the admin API only. */
  readonly sessionCookie: string | undefined;
};

/** A key that is known and may not be used (revoked, expired): answered 401 and recorded. */
export type RefusedKey = { readonly kind: 'refused_key'; readonly keyId: string; readonly tenant: string };

type SessionPrincipal = Extract<Principal, { kind: 'session' }>;
type SessionVerdict = { readonly bearer: SessionPrincipal; readonly cookie: SessionPrincipal } | undefined;
type KeyVerdict = Extract<Principal, { kind: 'api_key' }> | RefusedKey | undefined;

export type AuthenticatorDependencies = Pick<IdentityDependencies, 'reads' | 'sessions' | 'tokens' | 'vault' | 'hashApiKey'> & {
  readonly changes: Pick<IdentityChanges, 'onChange'>;
  readonly now: () => Date;
  readonly newCache: <Value>(size: number) => BoundedMap<Value>;
};

export type Authenticator = {
  /** Proves the credential; without a promise where it is cached. A bearer token is asked first, then the key, then the cookie; a bad one is not made up for by the next. */
  readonly authenticate: (credentials: Credentials) => Principal | RefusedKey | undefined | Promise<Principal | RefusedKey | undefined>;
  readonly close: () => void;
};

const KEY_FORM = /^svc_[0-9A-Za-z]{40}$/;
/** Longest token looked at. */
const MAX_TOKEN_LENGTH = 4_096;
const CACHED_CREDENTIALS = 10_000;
/** Changes are told; these bound what is believed without asking. */
const GOOD_FOR_MS = 60_000;
const BAD_FOR_MS = 5_000;

/** Credential checks of every request (spec 1, credential kinds, API key checks, session rules). The hit path is two hashes and two look-ups. */
export function createAuthenticator({ reads, sessions, tokens, vault, hashApiKey, changes, now, newCache }: AuthenticatorDependencies): Authenticator {
  const nowMs = () => now().getTime();
  const keys = createVerdictCache<KeyVerdict>({
    good: newCache(CACHED_CREDENTIALS), bad: newCache(CACHED_CREDENTIALS), isGood: (verdict) => verdict?.kind === 'api_key', nowMs,
  });
  const tokensSeen = createVerdictCache<SessionVerdict>({
    good: newCache(CACHED_CREDENTIALS), bad: newCache(CACHED_CREDENTIALS), isGood: (verdict) => verdict !== undefined, nowMs,
  });
  const stopListening = changes.onChange(() => {
    keys.invalidate();
    tokensSeen.invalidate();
  });

  async function loadKey(hash: string): Promise<Verdict<KeyVerdict>> {
    const record = await reads.apiKeyByHash(hash);
    const nowAt = nowMs();
    if (!record) return { value: undefined, untilMs: nowAt + BAD_FOR_MS };
    const expiresAtMs = record.expiresAt?.getTime() ?? Infinity;
    if (!record.enabled || expiresAtMs <= nowAt) {
      return { value: { kind: 'refused_key', keyId: record.id, tenant: record.tenant }, untilMs: nowAt + BAD_FOR_MS };
    }
    return { value: keyPrincipal(record), untilMs: Math.min(expiresAtMs, nowAt + GOOD_FOR_MS) };
  }

  async function loadSession(token: string): Promise<Verdict<SessionVerdict>> {
    const at = now();
    const refused = { value: undefined, untilMs: at.getTime() + BAD_FOR_MS };
    const claims = await tokens.verify(token, at);
    if (!claims) return refused;
    const { userId, sessionId, tenant, sessionsRevision, expiresAtMs } = claims;
    const [user, open] = await Promise.all([reads.userById(userId), sessions.isOpen(sessionId)]);
    if (!user || !open || user.disabled || sessionsRevisionIn(user, tenant) !== sessionsRevision) return refused;
    if (!user.roles.includes(SUPER_ADMIN) && !user.memberships.some((membership) => membership.tenant === tenant)) return refused;
    const principal = { kind: 'session', userId, sessionId, tenant, roles: rolesOf(user, tenant), csrfToken: csrfToken(vault, sessionId) } as const;
    return { value: { bearer: { ...principal, via: 'bearer' }, cookie: { ...principal, via: 'cookie' } }, untilMs: Math.min(expiresAtMs, at.getTime() + GOOD_FOR_MS) };
  }

  function session(token: string, via: 'bearer' | 'cookie'): SessionPrincipal | undefined | Promise<SessionPrincipal | undefined> {
    if (token.length > MAX_TOKEN_LENGTH) return undefined;
    const verdict = tokensSeen.get(vault.digest('session/access', token), () => loadSession(token));
    return verdict instanceof Promise ? verdict.then((late) => late?.[via]) : verdict?.[via];
  }

  return {
    authenticate({ api, bearer, apiKey, sessionCookie }) {
      if (bearer !== undefined) return session(bearer, 'bearer');
      if (apiKey !== undefined) {
        if (!KEY_FORM.test(apiKey)) return undefined;
        const hash = hashApiKey(apiKey);
        return keys.get(hash, () => loadKey(hash));
      }
      return sessionCookie === undefined || api === 'content' ? undefined : session(sessionCookie, 'cookie');
    },
    close: stopListening,
  };
}

function keyPrincipal({ id, tenant, roles, scopes, schemas }: ApiKeyRecord): Extract<Principal, { kind: 'api_key' }> {
  return { kind: 'api_key', keyId: id, tenant, roles, scopes: scopes.map((scope) => scope.toLowerCase()), schemas };
}
