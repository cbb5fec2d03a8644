import { isAdminGrant } from '../../domain/identity/admin-grants.ts';
import type { Principal } from '../../domain/identity/principal.ts';
import { hasAdminRole } from '../../domain/identity/roles.ts';
import type { ApiKeyRecord, IdentityReads } from '../ports/identity-reads.ts';
import type { CheckResult } from './credential-cache.ts';
import type { CredentialSecretDependencies } from './credential-dependencies.ts';
import { rolesOfUserIn } from './session-validity.ts';

/**
 * A known API key or admin token that must not be used: revoked, expired, or issued by a user who is no longer an
 * admin. The request is answered with 401 and recorded for the key.
 */
export type RefusedKey = { readonly kind: 'refused_key'; readonly keyId: string; readonly tenant: string };

/** Undefined for an unknown credential. */
export type CredentialResult = Exclude<Principal, { readonly kind: 'session' }> | RefusedKey | undefined;

export type LoadCredentialDependencies = Pick<CredentialSecretDependencies, 'hashCredential'> & {
  readonly reads: Pick<IdentityReads, 'apiKeyByHash' | 'adminTokenByHash' | 'userById'>;
  /** Hashes of a raw key under the previous peppers. */
  readonly previousHashes?: ((raw: string) => readonly string[]) | undefined;
  /** How long an accepted credential may be cached, in ms. */
  readonly acceptedTtlMs: number;
  /** How long a refused credential may be cached, in ms. */
  readonly refusedTtlMs: number;
};

/** `raw`: the text that the caller presents; `nowMs`: the current time in milliseconds. */
export type PresentedCredential = { readonly raw: string; readonly nowMs: number };

/** Checks an API key by its current secret, or by the secret before the last rotation while its grace period lasts. */
export async function loadApiKey(
  { raw, nowMs }: PresentedCredential,
  { reads, hashCredential, previousHashes, acceptedTtlMs, refusedTtlMs }: LoadCredentialDependencies,
): Promise<CheckResult<CredentialResult>> {
  const record = await reads.apiKeyByHash([hashCredential(raw), ...(previousHashes?.(raw) ?? [])]);
  if (!record) return { value: undefined, untilMs: nowMs + refusedTtlMs };
  const endsMs = Math.min(record.expiresAt?.getTime() ?? Infinity, record.secretUntil?.getTime() ?? Infinity);
  if (!record.enabled || endsMs <= nowMs)
    return { value: { kind: 'refused_key', keyId: record.id, tenant: record.tenant }, untilMs: nowMs + refusedTtlMs };
  return { value: keyPrincipal(record), untilMs: Math.min(endsMs, nowMs + acceptedTtlMs) };
}

/**
 * Checks an admin token by its secret. The token works only while the user who issued the secret is enabled and an
 * admin of the token's tenant.
 */
export async function loadAdminToken(
  { raw, nowMs }: PresentedCredential,
  { reads, hashCredential, previousHashes, acceptedTtlMs, refusedTtlMs }: LoadCredentialDependencies,
): Promise<CheckResult<CredentialResult>> {
  const record = await reads.adminTokenByHash([hashCredential(raw), ...(previousHashes?.(raw) ?? [])]);
  if (!record) return { value: undefined, untilMs: nowMs + refusedTtlMs };
  const { id: tokenId, tenant, revoked, expiresAt, grants } = record;
  const issuer = await reads.userById(record.issuedBy);
  const isAdmin = issuer !== undefined && !issuer.disabled && hasAdminRole(rolesOfUserIn(issuer, tenant));
  if (revoked || expiresAt.getTime() <= nowMs || !isAdmin)
    return { value: { kind: 'refused_key', keyId: tokenId, tenant }, untilMs: nowMs + refusedTtlMs };
  const principal = {
    kind: 'admin_token',
    tokenId,
    tenant,
    roles: ['admin'],
    grants: grants.filter(isAdminGrant),
  } as const;
  return { value: principal, untilMs: Math.min(expiresAt.getTime(), nowMs + acceptedTtlMs) };
}

function keyPrincipal({
  id,
  tenant,
  roles,
  scopes,
  schemas,
  monthlyLimit,
}: ApiKeyRecord): Extract<Principal, { kind: 'api_key' }> {
  return {
    kind: 'api_key',
    keyId: id,
    tenant,
    roles,
    scopes: scopes.map((scope) => scope.toLowerCase()),
    schemas,
    monthlyLimit,
  };
}
