import type { GlobalPosition } from '../../domain/event.ts';
import type { AccessRule } from '../../domain/identity/access-rule.ts';
import type { Membership } from '../../domain/identity/memberships.ts';
import type { TenantSettings } from '../../domain/identity/tenant-events.ts';
import type { SealedValue } from '../../domain/sealed-value.ts';

export type UserRecord = {
  readonly id: string;
  readonly email: SealedValue;
  readonly passwordHash: SealedValue;
  /** Roles in the default tenant, and `super_admin`. */
  readonly roles: readonly string[];
  readonly disabled: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly lastLoginAt: Date | null;
  /** Revision of the user's last event. */
  readonly revision: number;
  /** Revision of the last event that ended the user's sessions in all tenants. */
  readonly sessionsRevision: number;
  /** The session that this event kept open. */
  readonly keptSession: string | null;
  /** Second factor: the sealed secret and the digests of the unused recovery codes; null when it is not enabled. */
  readonly mfa: { readonly secret: SealedValue; readonly recoveryCodes: readonly string[] } | null;
  /** In the order of joining. */
  readonly memberships: readonly Membership[];
  /** By tenant, the revision of the last event that ended the sessions there; includes tenants that the user left. */
  readonly tenantSessionsRevisions: Readonly<Record<string, number>>;
};

export type TenantRecord = TenantSettings & {
  readonly slug: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** A tenant after a command, and the position to wait for; undefined when nothing changed. */
export type SavedTenant = { readonly tenant: TenantRecord; readonly position: GlobalPosition | undefined };

export type AccessRuleRecord = AccessRule & { readonly id: string; readonly createdAt: Date; readonly updatedAt: Date };

export type AccessRuleFilter = {
  readonly tenant: string;
  readonly role?: string | undefined;
  readonly schemaName?: string | undefined;
};

export type ApiKeyRecord = {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly string[];
  readonly roles: readonly string[];
  /** Content types that the key may use; empty means all. */
  readonly schemas: readonly string[];
  readonly enabled: boolean;
  readonly expiresAt: Date | null;
  /** Requests per UTC calendar month; 0 means no limit. */
  readonly monthlyLimit: number;
  readonly createdAt: Date;
};

export type AdminTokenRecord = {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly grants: readonly string[];
  readonly createdBy: string;
  readonly createdAt: Date;
  /** The user who issued the current secret. The token works only while this user is an admin of the tenant. */
  readonly issuedBy: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly revoked: boolean;
};

/** A tenant and its access rules. `tenant` is undefined before its creation and after its deletion. */
export type ChangedTenant = {
  readonly slug: string;
  /** Position of the last event that changed the tenant or its rules. */
  readonly position: string;
  readonly tenant: { readonly domains: readonly string[]; readonly disabled: boolean } | undefined;
  readonly rules: readonly AccessRule[];
};

export type Page = { readonly limit: number; readonly offset: number };

/** Queries of the identity read model, implemented in `projections/identity/queries.ts`. */
export type IdentityReads = {
  /** Position of the last event that changed the rights of a credential; undefined before the first. */
  lastChange(): Promise<string | undefined>;
  /** Whether the installation has a user. */
  anyUser(): Promise<boolean>;
  userById(userId: string): Promise<UserRecord | undefined>;
  /** Oldest first. */
  users(page: Page): Promise<readonly UserRecord[]>;
  readonly countUsers: () => Promise<number>;
  /** Number of other enabled super admins. */
  otherSuperAdmins(userId: string): Promise<number>;
  /** Members of the tenant, in the order of joining. */
  members(query: Page & { readonly tenant: string }): Promise<readonly (UserRecord & { readonly joinedAt: Date })[]>;
  countMembers(tenant: string): Promise<number>;
  tenant(slug: string): Promise<TenantRecord | undefined>;
  /** Oldest first. */
  tenants(page: Page): Promise<readonly TenantRecord[]>;
  readonly countTenants: () => Promise<number>;
  /**
   * Tenants that changed, or whose access rules changed, after the position, in the order of their last change. The
   * empty text as position returns all tenants.
   */
  changedTenants(after: string): Promise<readonly ChangedTenant[]>;
  /** Names by slug. */
  tenantNames(slugs: readonly string[]): Promise<ReadonlyMap<string, string>>;
  accessRule(rule: { readonly tenant: string; readonly ruleId: string }): Promise<AccessRuleRecord | undefined>;
  /** Sorted by role and content type. */
  accessRules(query: Page & AccessRuleFilter): Promise<readonly AccessRuleRecord[]>;
  countAccessRules(filter: AccessRuleFilter): Promise<number>;
  /** API keys whose list of content types contains the name. */
  apiKeysNaming(query: { readonly tenant: string; readonly schema: string }): Promise<readonly ApiKeyRecord[]>;
  /**
   * The API key with a secret that has one of the hashes. `secretUntil` is the expiry of a replaced secret; null for
   * the current secret.
   */
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
  /** Number of enabled, unexpired keys of the tenant. */
  countActiveApiKeys(tenant: string, now: Date): Promise<number>;
};
