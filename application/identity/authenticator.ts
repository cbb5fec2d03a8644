import type { Principal } from '../../domain/identity/principal.ts';
import { SUPER_ADMIN } from '../../domain/identity/roles.ts';
import type { IdentityChanges } from '../ports/identity-changes.ts';
import type { SessionTokens } from '../ports/session-tokens.ts';
import type { Sessions } from '../ports/sessions.ts';
import type { TrustedIssuers } from '../ports/trusted-issuers.ts';
import type { Vault } from '../ports/vault.ts';
import { type BoundedMap, type CheckResult, createCredentialCache } from './credential-cache.ts';
import {
  type CredentialResult,
  type LoadCredentialDependencies,
  type RefusedKey,
  loadAdminToken,
  loadApiKey,
} from './load-credential.ts';
import { isSessionValid, rolesOfUserIn } from './session-validity.ts';
import { csrfToken } from './user-secrets.ts';

/** The credentials of a request, not checked yet. */
export type Credentials = {
  readonly api: 'admin' | 'content';
  /** The token of `Authorization: Bearer`. */
  readonly bearer: string | undefined;
  /** `X-API-Key`. */
  readonly apiKey: string | undefined;
  /** The session cookie; used on the admin API only. */
  readonly sessionCookie: string | undefined;
};

type SessionPrincipal = Extract<Principal, { kind: 'session' }>;
type ExternalPrincipal = Extract<Principal, { kind: 'external' }>;
type SessionResult = { readonly bearer: SessionPrincipal; readonly cookie: SessionPrincipal } | undefined;

export type AuthenticatorDependencies = Pick<
  LoadCredentialDependencies,
  'reads' | 'hashCredential' | 'previousHashes'
> & {
  readonly vault: Pick<Vault, 'digest'>;
  readonly sessions: Pick<Sessions, 'isOpen'>;
  readonly tokens: Pick<SessionTokens, 'verify'>;
  readonly changes: Pick<IdentityChanges, 'onChange'>;
  readonly now: () => Date;
  readonly newCache: <Value>(options: { readonly size: number }) => BoundedMap<Value>;
  /** External issuers whose tokens the content API accepts. */
  readonly trustedIssuers?: TrustedIssuers | undefined;
};

export type Authenticator = {
  /**
   * Checks the credential of a request; answers synchronously when it is cached. Of several credentials only the first
   * is checked, in the order bearer token, API key, cookie: a valid key does not replace an invalid token.
   * @returns undefined when no valid credential was sent
   */
  readonly authenticate: (
    credentials: Credentials,
  ) => Principal | RefusedKey | undefined | Promise<Principal | RefusedKey | undefined>;
  readonly close: () => void;
};

const KEY_FORM = /^svc_[0-9A-Za-z]{40}$/;
const TOKEN_START = 'svcat_';
const TOKEN_FORM = /^svcat_[0-9A-Za-z]{40}$/;
/** Longer tokens are refused without a check. */
const MAX_TOKEN_LENGTH = 8_192;
const CACHED_CREDENTIALS = 10_000;
/** Changes invalidate the caches; these times bound staleness when a notification is lost. */
const ACCEPTED_TTL_MS = 60_000;
const REFUSED_TTL_MS = 5_000;
/** How long a verified token of an external issuer is cached. */
const EXTERNAL_TTL_MS = 10 * 60_000;

/** Opens the credential check of all requests. A cache hit costs two hashes and two lookups. */
export function openAuthenticator({
  reads,
  sessions,
  tokens,
  vault,
  hashCredential,
  previousHashes,
  changes,
  now,
  newCache,
  trustedIssuers,
}: AuthenticatorDependencies): Authenticator {
  const nowMs = () => now().getTime();
  const credentials = {
    reads,
    hashCredential,
    previousHashes,
    acceptedTtlMs: ACCEPTED_TTL_MS,
    refusedTtlMs: REFUSED_TTL_MS,
  };
  const keys = createCredentialCache<CredentialResult>({
    accepted: newCache({ size: CACHED_CREDENTIALS }),
    refused: newCache({ size: CACHED_CREDENTIALS }),
    isAccepted: (result) => result !== undefined && result.kind !== 'refused_key',
    nowMs,
  });
  const sessionTokens = createCredentialCache<SessionResult>({
    accepted: newCache({ size: CACHED_CREDENTIALS }),
    refused: newCache({ size: CACHED_CREDENTIALS }),
    isAccepted: (result) => result !== undefined,
    nowMs,
  });
  /** Never invalidated: no change of this installation affects the tokens of external issuers. */
  const externalTokens = createCredentialCache<ExternalPrincipal | undefined>({
    accepted: newCache({ size: CACHED_CREDENTIALS }),
    refused: newCache({ size: CACHED_CREDENTIALS }),
    isAccepted: (result) => result !== undefined,
    nowMs,
  });
  const stopListening = changes.onChange(() => {
    keys.invalidate();
    sessionTokens.invalidate();
  });

  async function loadSession(token: string): Promise<CheckResult<SessionResult>> {
    const at = now();
    const refused = { value: undefined, untilMs: at.getTime() + REFUSED_TTL_MS };
    const claims = await tokens.verify(token, at);
    if (!claims) return refused;
    const { userId, sessionId, tenant, sessionsRevision, expiresAtMs } = claims;
    const [user, open] = await Promise.all([reads.userById(userId), sessions.isOpen(sessionId)]);
    if (!user || !open || user.disabled || !isSessionValid(user, { sessionId, tenant, sessionsRevision }))
      return refused;
    if (!user.roles.includes(SUPER_ADMIN) && !user.memberships.some((membership) => membership.tenant === tenant))
      return refused;
    const principal = {
      kind: 'session',
      userId,
      sessionId,
      tenant,
      roles: rolesOfUserIn(user, tenant),
      csrfToken: csrfToken({ sessionId }, { vault }),
    } as const;
    return {
      value: { bearer: { ...principal, via: 'bearer' }, cookie: { ...principal, via: 'cookie' } },
      untilMs: Math.min(expiresAtMs, at.getTime() + ACCEPTED_TTL_MS),
    };
  }

  function session(
    token: string,
    via: 'bearer' | 'cookie',
  ): SessionPrincipal | undefined | Promise<SessionPrincipal | undefined> {
    if (token.length > MAX_TOKEN_LENGTH) return undefined;
    const result = sessionTokens.get(vault.digest('session/access', token), () => loadSession(token));
    return result instanceof Promise ? result.then((loaded) => loaded?.[via]) : result?.[via];
  }

  async function loadExternal(
    issuers: TrustedIssuers,
    token: string,
  ): Promise<CheckResult<ExternalPrincipal | undefined>> {
    const at = now();
    const found = await issuers.verify(token, at);
    if (!found) return { value: undefined, untilMs: at.getTime() + REFUSED_TTL_MS };
    const { subject, tenant, roles, expiresAtMs } = found;
    return {
      value: { kind: 'external', subject, tenant, roles },
      untilMs: Math.min(expiresAtMs, at.getTime() + EXTERNAL_TTL_MS),
    };
  }

  /** On the content API a token that is not a session token may come from an external issuer. */
  function contentBearer(token: string): Principal | undefined | Promise<Principal | undefined> {
    const own = session(token, 'bearer');
    const external = (): Principal | undefined | Promise<Principal | undefined> =>
      trustedIssuers && token.length <= MAX_TOKEN_LENGTH
        ? externalTokens.get(vault.digest('session/access', token), () => loadExternal(trustedIssuers, token))
        : undefined;
    return own instanceof Promise ? own.then((loaded) => loaded ?? external()) : (own ?? external());
  }

  return {
    authenticate({ api, bearer, apiKey, sessionCookie }) {
      if (bearer?.startsWith(TOKEN_START)) {
        return api === 'admin' && TOKEN_FORM.test(bearer)
          ? keys.get(hashCredential(bearer), () => loadAdminToken({ raw: bearer, nowMs: nowMs() }, credentials))
          : undefined;
      }
      if (bearer !== undefined) return api === 'content' ? contentBearer(bearer) : session(bearer, 'bearer');
      if (apiKey !== undefined)
        return KEY_FORM.test(apiKey)
          ? keys.get(hashCredential(apiKey), () => loadApiKey({ raw: apiKey, nowMs: nowMs() }, credentials))
          : undefined;
      return sessionCookie === undefined || api === 'content' ? undefined : session(sessionCookie, 'cookie');
    },
    close: stopListening,
  };
}
