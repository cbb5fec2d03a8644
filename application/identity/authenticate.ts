import type { Principal } from '../../domain/identity/principal.ts';
import { SUPER_ADMIN } from '../../domain/identity/roles.ts';
import type { TrustedIssuers } from '../ports/trusted-issuers.ts';
import type { IdentityDependencies } from './dependencies.ts';
import type { IdentityChanges } from './identity-changes.ts';
import type { CredentialDependencies, CredentialVerdict, RefusedKey } from './load-credential.ts';
import { loadAdminToken, loadApiKey } from './load-credential.ts';
import { outlasts, rolesOf } from './session-standing.ts';
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

type SessionPrincipal = Extract<Principal, { kind: 'session' }>;
type ExternalPrincipal = Extract<Principal, { kind: 'external' }>;
type SessionVerdict = { readonly bearer: SessionPrincipal; readonly cookie: SessionPrincipal } | undefined;

export type AuthenticatorDependencies = Pick<IdentityDependencies, 'vault' | 'hashApiKey'> & Pick<CredentialDependencies, 'reads' | 'formerHashes'> & {
  readonly sessions: Pick<IdentityDependencies['sessions'], 'isOpen'>;
  readonly tokens: Pick<IdentityDependencies['tokens'], 'verify'>;
  readonly changes: Pick<IdentityChanges, 'onChange'>;
  readonly now: () => Date;
  readonly newCache: <Value>(size: number) => BoundedMap<Value>;
  /** Outside issuers whose tokens the content API takes. */
  readonly trustedIssuers?: TrustedIssuers | undefined;
};

export type Authenticator = {
  /** Proves the credential; without a promise where it is cached. A bearer token is asked first, then the key, then the cookie; a bad one is not made up for by the next. */
  readonly authenticate: (credentials: Credentials) => Principal | RefusedKey | undefined | Promise<Principal | RefusedKey | undefined>;
  readonly close: () => void;
};

const KEY_FORM = /^svc_[0-9A-Za-z]{40}$/;
const TOKEN_START = 'svcat_';
const TOKEN_FORM = /^svcat_[0-9A-Za-z]{40}$/;
/** Longest token looked at. */
const MAX_TOKEN_LENGTH = 8_192;
const CACHED_CREDENTIALS = 10_000;
/** Changes are told; these bound what is believed without asking. */
const GOOD_FOR_MS = 60_000;
const BAD_FOR_MS = 5_000;
/** So long a token of an outside issuer is not held against its keys again. */
const EXTERNAL_GOOD_FOR_MS = 10 * 60_000;

/** Credential checks of every request (spec 1, credential kinds, API key checks, session rules). The hit path is two hashes and two look-ups. */
export function createAuthenticator({ reads, sessions, tokens, vault, hashApiKey, formerHashes, changes, now, newCache, trustedIssuers }: AuthenticatorDependencies): Authenticator {
  const nowMs = () => now().getTime();
  const credentials = { reads, hashApiKey, formerHashes, goodForMs: GOOD_FOR_MS, badForMs: BAD_FOR_MS };
  const keys = createVerdictCache<CredentialVerdict>({
    good: newCache(CACHED_CREDENTIALS), bad: newCache(CACHED_CREDENTIALS), isGood: (verdict) => verdict !== undefined && verdict.kind !== 'refused_key', nowMs,
  });
  const tokensSeen = createVerdictCache<SessionVerdict>({
    good: newCache(CACHED_CREDENTIALS), bad: newCache(CACHED_CREDENTIALS), isGood: (verdict) => verdict !== undefined, nowMs,
  });
  /** Nothing that changes here makes an outside token better or worse. */
  const outsiders = createVerdictCache<ExternalPrincipal | undefined>({
    good: newCache(CACHED_CREDENTIALS), bad: newCache(CACHED_CREDENTIALS), isGood: (verdict) => verdict !== undefined, nowMs,
  });
  const stopListening = changes.onChange(() => {
    keys.invalidate();
    tokensSeen.invalidate();
  });

  async function loadSession(token: string): Promise<Verdict<SessionVerdict>> {
    const at = now();
    const refused = { value: undefined, untilMs: at.getTime() + BAD_FOR_MS };
    const claims = await tokens.verify(token, at);
    if (!claims) return refused;
    const { userId, sessionId, tenant, sessionsRevision, expiresAtMs } = claims;
    const [user, open] = await Promise.all([reads.userById(userId), sessions.isOpen(sessionId)]);
    if (!user || !open || user.disabled || !outlasts(user, { sessionId, tenant, sessionsRevision })) return refused;
    if (!user.roles.includes(SUPER_ADMIN) && !user.memberships.some((membership) => membership.tenant === tenant)) return refused;
    const principal = { kind: 'session', userId, sessionId, tenant, roles: rolesOf(user, tenant), csrfToken: csrfToken(vault, sessionId) } as const;
    return { value: { bearer: { ...principal, via: 'bearer' }, cookie: { ...principal, via: 'cookie' } }, untilMs: Math.min(expiresAtMs, at.getTime() + GOOD_FOR_MS) };
  }

  function session(token: string, via: 'bearer' | 'cookie'): SessionPrincipal | undefined | Promise<SessionPrincipal | undefined> {
    if (token.length > MAX_TOKEN_LENGTH) return undefined;
    const verdict = tokensSeen.get(vault.digest('session/access', token), () => loadSession(token));
    return verdict instanceof Promise ? verdict.then((late) => late?.[via]) : verdict?.[via];
  }

  async function loadOutsider(issuers: TrustedIssuers, token: string): Promise<Verdict<ExternalPrincipal | undefined>> {
    const at = now();
    const found = await issuers.verify(token, at);
    if (!found) return { value: undefined, untilMs: at.getTime() + BAD_FOR_MS };
    const { subject, tenant, roles, expiresAtMs } = found;
    return { value: { kind: 'external', subject, tenant, roles }, untilMs: Math.min(expiresAtMs, at.getTime() + EXTERNAL_GOOD_FOR_MS) };
  }

  /** On the content API a token that is none of ours may be that of an outside issuer. */
  function bearerOfContent(token: string): Principal | undefined | Promise<Principal | undefined> {
    const ours = session(token, 'bearer');
    const other = (): Principal | undefined | Promise<Principal | undefined> =>
      trustedIssuers && token.length <= MAX_TOKEN_LENGTH ? outsiders.get(vault.digest('session/access', token), () => loadOutsider(trustedIssuers, token)) : undefined;
    return ours instanceof Promise ? ours.then((late) => late ?? other()) : (ours ?? other());
  }

  return {
    authenticate({ api, bearer, apiKey, sessionCookie }) {
      if (bearer?.startsWith(TOKEN_START)) {
        return api === 'admin' && TOKEN_FORM.test(bearer) ? keys.get(hashApiKey(bearer), () => loadAdminToken(credentials, bearer, nowMs())) : undefined;
      }
      if (bearer !== undefined) return api === 'content' ? bearerOfContent(bearer) : session(bearer, 'bearer');
      if (apiKey !== undefined) return KEY_FORM.test(apiKey) ? keys.get(hashApiKey(apiKey), () => loadApiKey(credentials, apiKey, nowMs())) : undefined;
      return sessionCookie === undefined || api === 'content' ? undefined : session(sessionCookie, 'cookie');
    },
    close: stopListening,
  };
}
