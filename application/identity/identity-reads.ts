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
  /** In the order of joining. */
  readonly memberships: readonly { readonly tenant: string; readonly roles: readonly string[] }[];
};

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

export type Page = { readonly limit: number; readonly offset: number };

/** Queries of the identity read model; made by `projections/identity/queries.ts`. */
export type IdentityReads = {
  /** Position of the last event that changed what a credential may do; undefined before the first. */
  lastChange(): Promise<string | undefined>;
  anyUser(): Promise<boolean>;
  userByEmail(emailDigest: string): Promise<UserRecord | undefined>;
  userById(userId: string): Promise<UserRecord | undefined>;
  /** Oldest first. */
  users(page: Page): Promise<readonly UserRecord[]>;
  readonly countUsers: () => Promise<number>;
  /** Enabled super admins beside this user. */
  otherSuperAdmins(userId: string): Promise<number>;
  apiKeyByHash(keyHash: string): Promise<ApiKeyRecord | undefined>;
  apiKeyById(key: { readonly tenant: string; readonly keyId: string }): Promise<ApiKeyRecord | undefined>;
  /** Newest first. */
  apiKeys(query: Page & { readonly tenant: string }): Promise<readonly ApiKeyRecord[]>;
  countApiKeys(tenant: string): Promise<number>;
  /** Enabled and unexpired keys of the tenant. */
  countActiveApiKeys(tenant: string, now: Date): Promise<number>;
};
