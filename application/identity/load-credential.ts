import type { Principal } from '../../domain/identity/principal.ts';
import { isAdminGrant } from '../../domain/identity/admin-grants.ts';
import { hasAdminRole } from '../../domain/identity/roles.ts';
import type { IdentityDependencies } from './dependencies.ts';
import type { ApiKeyRecord, IdentityReads } from './identity-reads.ts';
import { rolesOf } from './session-standing.ts';
import type { Verdict } from './verdict-cache.ts';

/** A key or an admin token that is known and may not be used (revoked, expired, its maker no admin any more): answered 401 and recorded. */
export type RefusedKey = { readonly kind: 'refused_key'; readonly keyId: string; readonly tenant: string };

export type CredentialVerdict = Exclude<Principal, { readonly kind: 'session' }> | RefusedKey | undefined;

export type CredentialDependencies = Pick<IdentityDependencies, 'hashApiKey'> & {
  readonly reads: Pick<IdentityReads, 'apiKeyByHash' | 'adminTokenByHash' | 'userById'>;
  /** Hashes of a raw key under peppers that were. */
  readonly formerHashes?: ((raw: string) => readonly string[]) | undefined;
  /** Milliseconds that a good and a bad verdict may be believed. */
  readonly goodForMs: number;
  readonly badForMs: number;
};

/** Looks an API key up by its secret, or by the one before the last rotation while its grace lasts (spec 1, API key checks). */
export async function loadApiKey({ reads, hashApiKey, formerHashes, goodForMs, badForMs }: CredentialDependencies, raw: string, nowMs: number): Promise<Verdict<CredentialVerdict>> {
  const record = await reads.apiKeyByHash([hashApiKey(raw), ...(formerHashes?.(raw) ?? [])]);
  if (!record) return { value: undefined, untilMs: nowMs + badForMs };
  const endsMs = Math.min(record.expiresAt?.getTime() ?? Infinity, record.secretUntil?.getTime() ?? Infinity);
  if (!record.enabled || endsMs <= nowMs) return { value: { kind: 'refused_key', keyId: record.id, tenant: record.tenant }, untilMs: nowMs + badForMs };
  return { value: keyPrincipal(record), untilMs: Math.min(endsMs, nowMs + goodForMs) };
}

/** Looks an admin token up by its secret. It acts only while whoever made that secret is an admin of its tenant and enabled (spec 4 A, admin tokens). */
export async function loadAdminToken({ reads, hashApiKey, formerHashes, goodForMs, badForMs }: CredentialDependencies, raw: string, nowMs: number): Promise<Verdict<CredentialVerdict>> {
  const record = await reads.adminTokenByHash([hashApiKey(raw), ...(formerHashes?.(raw) ?? [])]);
  if (!record) return { value: undefined, untilMs: nowMs + badForMs };
  const { id: tokenId, tenant, revoked, expiresAt, grants } = record;
  const issuer = await reads.userById(record.issuedBy);
  const isAdmin = issuer !== undefined && !issuer.disabled && hasAdminRole(rolesOf(issuer, tenant));
  if (revoked || expiresAt.getTime() <= nowMs || !isAdmin) return { value: { kind: 'refused_key', keyId: tokenId, tenant }, untilMs: nowMs + badForMs };
  const principal = { kind: 'admin_token', tokenId, tenant, roles: ['admin'], grants: grants.filter(isAdminGrant) } as const;
  return { value: principal, untilMs: Math.min(expiresAt.getTime(), nowMs + goodForMs) };
}

function keyPrincipal({ id, tenant, roles, scopes, schemas, monthlyLimit }: ApiKeyRecord): Extract<Principal, { kind: 'api_key' }> {
  return { kind: 'api_key', keyId: id, tenant, roles, scopes: scopes.map((scope) => scope.toLowerCase()), schemas, monthlyLimit };
}
