import type { AccessRule } from '../../domain/identity/access-rule.ts';
import type { Membership } from '../../domain/identity/memberships.ts';
import type { TenantSettings } from '../../domain/identity/tenant.ts';
import type { Sealed } from '../ports/vault.ts';

/** A user as the identity read model answers it. */
export type UserRecord = {
  readonly id: string;
  readonly email: Sealed;
  readonly passwordHash: Sealed;
  readonly roles: readonly string[];
  readonly disabled: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly lastLoginAt: Date | null;
  readonly revision: number;
  readonly sessionsRevision: number;
  /** The session that the last of these events let go on. */
  readonly keptSession: string | null;
  /** Second factor: the secret as the event has it, and the recovery codes that are left. */
  readonly mfa: { readonly secret: Sealed; readonly recoveryCodes: readonly string[] } | null;
  /** In the order of joining. */
  readonly memberships: readonly Membership[];
  /** By tenant the revision of the last event that ended the sessions there; of tenants that the user left, too. */
  readonly tenantSessionsRevisions: Readonly<Record<string, number>>;
};

/** A tenant as the identity read model answers it. */
export type TenantRecord = TenantSettings & { readonly slug: string; readonly createdAt: Date; readonly updatedAt: Date };

/** An access rule as the identity read model answers it. */
export type AccessRuleRecord = AccessRule & { readonly id: string; readonly createdAt: Date; readonly updatedAt: Date };

export type AccessRuleFilter = { readonly tenant: string; readonly role?: string | undefined; readonly schemaName?: string | undefined };

/** An API key as the identity read model answers it. */
export type ApiKeyRecord = {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly string[];
  readonly roles: readonly string[];
  readonly schemas: readonly string[];
  readonly enabled: boolean;
  readonly expiresAt: Date | null;
  readonly monthlyLimit: number;
  readonly createdAt: Date;
};

/** An admin token as the identity read model answers it. */
export type AdminTokenRecord = {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly grants: readonly string[];
  readonly createdBy: string;
  readonly createdAt: Date;
  /** Who made the present secret: the token acts only while they are admins of the tenant. */
  readonly issuedBy: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly revoked: boolean;
};

export type Page = { readonly limit: number; readonly offset: number };

/** Queries of the identity read model; made by `projections/identity/queries.ts`. */
export type IdentityReads = {
  /** Position of the last event that changed what a credential may do; undefined before the first. */
  lastChange(): Promise<string | undefined>;
  anyUser(): Promise<boolean>;
  userById(userId: string): Promise<UserRecord | undefined>;
  /** Oldest first. */
  users(page: Page): Promise<readonly UserRecord[]>;
  readonly countUsers: () => Promise<number>;
  /** Enabled super admins beside this user. */
  otherSuperAdmins(userId: string): Promise<number>;
  /** Users who joined the tenant, in that order. */
  members(query: Page & { readonly tenant: string }): Promise<readonly (UserRecord & { readonly joinedAt: Date })[]>;
  countMembers(tenant: string): Promise<number>;
  tenant(slug: string): Promise<TenantRecord | undefined>;
  /** Oldest first. */
  tenants(page: Page): Promise<readonly TenantRecord[]>;
  readonly countTenants: () => Promise<number>;
  tenantNames(slugs: readonly string[]): Promise<ReadonlyMap<string, string>>;
  accessRule(rule: { readonly tenant: string; readonly ruleId: string }): Promise<AccessRuleRecord | undefined>;
  /** By role and content type. */
  accessRules(query: Page & AccessRuleFilter): Promise<readonly AccessRuleRecord[]>;
  countAccessRules(filter: AccessRuleFilter): Promise<number>;
  /** Keys whose list of content types holds the name. */
  apiKeysNaming(query: { readonly tenant: string; readonly schema: string }): Promise<readonly ApiKeyRecord[]>;
  /** The key one of whose secrets has one of the hashes; `secretUntil` is when that secret ends before the key does (rotated), null: with the key. */
  apiKeyByHash(hashes: readonly string[]): Promise<(ApiKeyRecord & { readonly secretUntil: Date | null }) | undefined>;
  apiKeyById(key: { readonly tenant: string; readonly keyId: string }): Promise<ApiKeyRecord | undefined>;
  /** Newest first. */
  apiKeys(query: Page & { readonly tenant: string }): Promise<readonly ApiKeyRecord[]>;
  countApiKeys(tenant: string): Promise<number>;
  adminTokenByHash(hashes: readonly string[]): Promise<AdminTokenRecord | undefined>;
  adminTokenById(token: { readonly tenant: string; readonly tokenId: string }): Promise<AdminTokenRecord | undefined>;
  /** Newest first. */
  adminTokens(query: Page & { readonly tenant: string }): Promise<readonly AdminTokenRecord[]>;
  countAdminTokens(tenant: string): Promise<number>;
  /** Enabled and unexpired keys of the tenant. */
  countActiveApiKeys(tenant: string, now: Date): Promise<number>;
};
