import type { AccessRule } from '../../domain/identity/access-rule.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Queryable } from '../../infrastructure/postgres/database.ts';

type SealedJson = JsonObject & { readonly $sealed: 1; readonly k: string; readonly n: string; readonly c: string };

type UserAnswer = {
  readonly id: string;
  readonly email: SealedJson;
  readonly passwordHash: SealedJson;
  readonly roles: readonly string[];
  readonly disabled: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly lastLoginAt: Date | null;
  readonly revision: number;
  readonly sessionsRevision: number;
  readonly keptSession: string | null;
  readonly mfa: { readonly secret: SealedJson; readonly recoveryCodes: readonly string[] } | null;
  readonly memberships: readonly { readonly tenant: string; readonly roles: readonly string[] }[];
  readonly tenantSessionsRevisions: Readonly<Record<string, number>>;
};

type TenantAnswer = {
  readonly slug: string;
  readonly name: string;
  readonly domains: readonly string[];
  readonly disabled: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

type AccessRuleAnswer = {
  readonly id: string;
  readonly role: string;
  readonly schema_name: string;
  readonly actions: readonly AccessRule['actions'][number][];
  readonly field_mask: readonly string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

type ChangedTenantAnswer = {
  readonly slug: string;
  readonly position: string;
  readonly tenant: { readonly domains: readonly string[]; readonly disabled: boolean } | undefined;
  readonly rules: readonly AccessRule[];
};

type AdminTokenAnswer = {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly grants: readonly string[];
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly issuedBy: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly revoked: boolean;
};

type ApiKeyAnswer = {
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

const USER = `u.user_id as id, u.email, u.password_hash as "passwordHash", u.roles, u.disabled, u.created_at as "createdAt", u.updated_at as "updatedAt",
  u.last_login_at as "lastLoginAt", u.revision, u.sessions_revision as "sessionsRevision", u.kept_session as "keptSession", u.mfa,
  coalesce((select jsonb_agg(jsonb_build_object('tenant', m.tenant_id, 'roles', m.roles) order by m.joined_at, m.tenant_id)
    from rm_identity.memberships m where m.user_id = u.user_id and m.member), '[]') as memberships,
  coalesce((select jsonb_object_agg(m.tenant_id, m.sessions_revision) from rm_identity.memberships m where m.user_id = u.user_id), '{}') as "tenantSessionsRevisions"`;

const TENANT = 'tenant_id as slug, name, domains, disabled, created_at as "createdAt", updated_at as "updatedAt"';

const ACCESS_RULE = 'rule_id as id, role, schema_name, actions, field_mask, created_at as "createdAt", updated_at as "updatedAt"';
const MATCHING_RULES = 'from rm_identity.access_rules where tenant_id = $1 and ($2::text is null or role = $2) and ($3::text is null or schema_name = $3)';

const API_KEY = `key_id as id, tenant_id as tenant, name, prefix, scopes, roles, schemas, enabled, expires_at as "expiresAt",
  monthly_limit as "monthlyLimit", created_at as "createdAt"`;

const ADMIN_TOKEN = `token_id as id, tenant_id as tenant, name, grants, created_by as "createdBy", created_at as "createdAt", issued_by as "issuedBy",
  issued_at as "issuedAt", expires_at as "expiresAt", revoked`;

type RuleFilter = { readonly tenant: string; readonly role?: string | undefined; readonly schemaName?: string | undefined };

/** Queries of the live identity read model. Users are install-wide; every query of keys but the one by hash names its tenant. */
export function createIdentityQueries(queryable: Queryable) {
  async function count(text: string, values: readonly unknown[] = []): Promise<number> {
    return (await queryable.query<{ n: number }>(text, values))[0]?.n ?? 0;
  }
  return {
    /** Position of the last event that changed what a credential may do: caches made from this read model are good while it stays. */
    lastChange: async (): Promise<string | undefined> =>
      (await queryable.query<{ position: string }>('select position from rm_identity.changes', [], 'identity-last-change'))[0]?.position,
    async anyUser(): Promise<boolean> {
      return (await queryable.query('select 1 from rm_identity.users limit 1')).length > 0;
    },
    async userById(userId: string): Promise<UserAnswer | undefined> {
      return (await queryable.query<UserAnswer>(`select ${USER} from rm_identity.users u where u.user_id = $1`, [userId], 'identity-user-by-id'))[0];
    },
    users({ limit, offset }: { readonly limit: number; readonly offset: number }): Promise<readonly UserAnswer[]> {
      return queryable.query<UserAnswer>(`select ${USER} from rm_identity.users u order by u.created_at, u.user_id limit $1 offset $2`, [limit, offset]);
    },
    countUsers: (): Promise<number> => count('select count(*) as n from rm_identity.users'),
    otherSuperAdmins: (userId: string): Promise<number> =>
      count(`select count(*) as n from rm_identity.users where 'super_admin' = any(roles) and not disabled and user_id <> $1`, [userId]),
    /** Users who joined the tenant, in that order. */
    async members({ tenant, limit, offset }: { readonly tenant: string; readonly limit: number; readonly offset: number }): Promise<readonly (UserAnswer & { readonly joinedAt: Date })[]> {
      return queryable.query<UserAnswer & { readonly joinedAt: Date }>(
        `select ${USER}, j.joined_at as "joinedAt" from rm_identity.memberships j join rm_identity.users u using (user_id)
         where j.tenant_id = $1 and j.member order by j.joined_at, j.user_id limit $2 offset $3`,
        [tenant, limit, offset],
      );
    },
    countMembers: (tenant: string): Promise<number> => count('select count(*) as n from rm_identity.memberships where tenant_id = $1 and member', [tenant]),
    async tenant(slug: string): Promise<TenantAnswer | undefined> {
      return (await queryable.query<TenantAnswer>(`select ${TENANT} from rm_identity.tenants where tenant_id = $1`, [slug]))[0];
    },
    tenants({ limit, offset }: { readonly limit: number; readonly offset: number }): Promise<readonly TenantAnswer[]> {
      return queryable.query<TenantAnswer>(`select ${TENANT} from rm_identity.tenants order by created_at, tenant_id limit $1 offset $2`, [limit, offset]);
    },
    countTenants: (): Promise<number> => count('select count(*) as n from rm_identity.tenants'),
    async tenantNames(slugs: readonly string[]): Promise<ReadonlyMap<string, string>> {
      const rows = await queryable.query<{ slug: string; name: string }>('select tenant_id as slug, name from rm_identity.tenants where tenant_id = any($1::text[])', [slugs]);
      return new Map(rows.map(({ slug, name }) => [slug, name]));
    },
    /** Tenants that changed after a position, or whose rules did, in the order of their last change; those that were deleted without a `tenant`. */
    async changedTenants(after: string): Promise<readonly ChangedTenantAnswer[]> {
      const rows = await queryable.query<Omit<ChangedTenantAnswer, 'tenant'> & { readonly tenant: ChangedTenantAnswer['tenant'] | null }>(
        `select c.slug, c.position,
           (select jsonb_build_object('domains', t.domains, 'disabled', t.disabled) from rm_identity.tenants t where t.tenant_id = c.slug) as tenant,
           coalesce((select jsonb_agg(jsonb_build_object('role', r.role, 'schema_name', r.schema_name, 'actions', r.actions, 'field_mask', r.field_mask))
             from rm_identity.access_rules r where r.tenant_id = c.slug), '[]') as rules
         from rm_identity.tenant_changes c where c.position > $1 order by c.position`,
        [after],
        'identity-changed-tenants',
      );
      return rows.map((row) => ({ ...row, tenant: row.tenant ?? undefined }));
    },
    async accessRule({ tenant, ruleId }: { readonly tenant: string; readonly ruleId: string }): Promise<AccessRuleAnswer | undefined> {
      return (await queryable.query<AccessRuleAnswer>(`select ${ACCESS_RULE} from rm_identity.access_rules where tenant_id = $1 and rule_id = $2`, [tenant, ruleId]))[0];
    },
    accessRules({ tenant, role, schemaName, limit, offset }: RuleFilter & { readonly limit: number; readonly offset: number }): Promise<readonly AccessRuleAnswer[]> {
      return queryable.query<AccessRuleAnswer>(
        `select ${ACCESS_RULE} ${MATCHING_RULES} order by role, schema_name limit $4 offset $5`,
        [tenant, role ?? null, schemaName ?? null, limit, offset],
      );
    },
    countAccessRules: ({ tenant, role, schemaName }: RuleFilter): Promise<number> => count(`select count(*) as n ${MATCHING_RULES}`, [tenant, role ?? null, schemaName ?? null]),
    apiKeysNaming({ tenant, schema }: { readonly tenant: string; readonly schema: string }): Promise<readonly ApiKeyAnswer[]> {
      return queryable.query<ApiKeyAnswer>(`select ${API_KEY} from rm_identity.api_keys where tenant_id = $1 and $2 = any(schemas) order by key_id`, [tenant, schema]);
    },
    async apiKeyByHash(hashes: readonly string[]): Promise<(ApiKeyAnswer & { readonly secretUntil: Date | null }) | undefined> {
      const rows = await queryable.query<ApiKeyAnswer & { readonly secretUntil: Date | null }>(
        `select ${API_KEY}, case when key_hash = any($1::text[]) then null else previous_until end as "secretUntil"
         from rm_identity.api_keys where key_hash = any($1::text[]) or previous_hash = any($1::text[])`,
        [hashes],
        'identity-key-by-hash',
      );
      return rows[0];
    },
    /** The token whose secret has one of the hashes. */
    async adminTokenByHash(hashes: readonly string[]): Promise<AdminTokenAnswer | undefined> {
      return (await queryable.query<AdminTokenAnswer>(`select ${ADMIN_TOKEN} from rm_identity.admin_tokens where token_hash = any($1::text[])`, [hashes], 'identity-token-by-hash'))[0];
    },
    async adminTokenById({ tenant, tokenId }: { readonly tenant: string; readonly tokenId: string }): Promise<AdminTokenAnswer | undefined> {
      return (await queryable.query<AdminTokenAnswer>(`select ${ADMIN_TOKEN} from rm_identity.admin_tokens where tenant_id = $1 and token_id = $2`, [tenant, tokenId]))[0];
    },
    adminTokens({ tenant, limit, offset }: { readonly tenant: string; readonly limit: number; readonly offset: number }): Promise<readonly AdminTokenAnswer[]> {
      return queryable.query<AdminTokenAnswer>(
        `select ${ADMIN_TOKEN} from rm_identity.admin_tokens where tenant_id = $1 order by created_at desc, token_id desc limit $2 offset $3`,
        [tenant, limit, offset],
      );
    },
    countAdminTokens: (tenant: string): Promise<number> => count('select count(*) as n from rm_identity.admin_tokens where tenant_id = $1', [tenant]),
    async apiKeyById({ tenant, keyId }: { readonly tenant: string; readonly keyId: string }): Promise<ApiKeyAnswer | undefined> {
      return (await queryable.query<ApiKeyAnswer>(`select ${API_KEY} from rm_identity.api_keys where tenant_id = $1 and key_id = $2`, [tenant, keyId]))[0];
    },
    apiKeys({ tenant, limit, offset }: { readonly tenant: string; readonly limit: number; readonly offset: number }): Promise<readonly ApiKeyAnswer[]> {
      return queryable.query<ApiKeyAnswer>(
        `select ${API_KEY} from rm_identity.api_keys where tenant_id = $1 order by created_at desc, key_id desc limit $2 offset $3`,
        [tenant, limit, offset],
      );
    },
    countApiKeys: (tenant: string): Promise<number> => count('select count(*) as n from rm_identity.api_keys where tenant_id = $1', [tenant]),
    countActiveApiKeys: (tenant: string, now: Date): Promise<number> =>
      count('select count(*) as n from rm_identity.api_keys where tenant_id = $1 and enabled and (expires_at is null or expires_at > $2)', [tenant, now]),
  };
}
