import type {
  AccessRuleFilter,
  AccessRuleRecord,
  AdminTokenRecord,
  ApiKeyRecord,
  ChangedTenant,
  IdentityReads,
  TenantRecord,
  UserRecord,
} from '../../application/ports/identity-reads.ts';
import type { Database } from '../../infrastructure/postgres/database.ts';

type MemberRecord = UserRecord & { readonly joinedAt: Date };
type KeyWithSecret = ApiKeyRecord & { readonly secretUntil: Date | null };

const USER = `u.user_id as id, u.email, u.password_hash as "passwordHash", u.roles, u.disabled,
  u.created_at as "createdAt", u.updated_at as "updatedAt",
  u.last_login_at as "lastLoginAt", u.revision, u.sessions_revision as "sessionsRevision",
  u.kept_session as "keptSession", u.mfa, coalesce((
    select jsonb_agg(jsonb_build_object('tenant', m.tenant_id, 'roles', m.roles) order by m.joined_at, m.tenant_id)
    from rm_identity.memberships m where m.user_id = u.user_id and m.member), '[]') as memberships,
  coalesce((select jsonb_object_agg(m.tenant_id, m.sessions_revision) from rm_identity.memberships m
    where m.user_id = u.user_id), '{}') as "tenantSessionsRevisions"`;

const TENANT = 'tenant_id as slug, name, domains, disabled, created_at as "createdAt", updated_at as "updatedAt"';

const ACCESS_RULE =
  'rule_id as id, role, schema_name, actions, field_mask, created_at as "createdAt", updated_at as "updatedAt"';
const MATCHING_RULES =
  'from rm_identity.access_rules where tenant_id = $1 and ($2::text is null or role = $2) and ($3::text is null or schema_name = $3)';

const API_KEY = `key_id as id, tenant_id as tenant, name, prefix, scopes, roles, schemas, enabled,
  expires_at as "expiresAt", monthly_limit as "monthlyLimit", created_at as "createdAt"`;

const ADMIN_TOKEN = `token_id as id, tenant_id as tenant, name, grants, created_by as "createdBy",
  created_at as "createdAt", issued_by as "issuedBy", issued_at as "issuedAt", expires_at as "expiresAt", revoked`;

/**
 * Queries of the live identity read model, bound to a database (port `IdentityReads`). Users belong to the
 * installation; queries of API keys and admin tokens are restricted to one tenant, except the lookups by hash.
 */
export function createIdentityQueries({ database }: { readonly database: Database }): IdentityReads {
  async function count(text: string, values: readonly unknown[] = []): Promise<number> {
    return (await database.query<{ n: number }>(text, values))[0]?.n ?? 0;
  }

  async function first<Row extends object>(
    text: string,
    values: readonly unknown[],
    statement?: string,
  ): Promise<Row | undefined> {
    return (await database.query<Row>(text, values, statement))[0];
  }

  return {
    lastChange: async () =>
      (await first<{ position: string }>('select position from rm_identity.changes', [], 'identity-last-change'))
        ?.position,

    anyUser: async () => (await database.query('select 1 from rm_identity.users limit 1')).length > 0,
    userById: (userId) =>
      first<UserRecord>(
        `select ${USER} from rm_identity.users u where u.user_id = $1`,
        [userId],
        'identity-user-by-id',
      ),
    users: ({ limit, offset }) =>
      database.query<UserRecord>(
        `select ${USER} from rm_identity.users u order by u.created_at, u.user_id limit $1 offset $2`,
        [limit, offset],
      ),
    countUsers: () => count('select count(*) as n from rm_identity.users'),
    otherSuperAdmins: (userId) =>
      count(
        `select count(*) as n from rm_identity.users
         where 'super_admin' = any(roles) and not disabled and user_id <> $1`,
        [userId],
      ),
    members: ({ tenant, limit, offset }) =>
      database.query<MemberRecord>(
        `select ${USER}, j.joined_at as "joinedAt" from rm_identity.memberships j
         join rm_identity.users u using (user_id)
         where j.tenant_id = $1 and j.member order by j.joined_at, j.user_id limit $2 offset $3`,
        [tenant, limit, offset],
      ),
    countMembers: (tenant) =>
      count('select count(*) as n from rm_identity.memberships where tenant_id = $1 and member', [tenant]),

    tenant: (slug) => first<TenantRecord>(`select ${TENANT} from rm_identity.tenants where tenant_id = $1`, [slug]),
    tenants: ({ limit, offset }) =>
      database.query<TenantRecord>(
        `select ${TENANT} from rm_identity.tenants order by created_at, tenant_id limit $1 offset $2`,
        [limit, offset],
      ),
    countTenants: () => count('select count(*) as n from rm_identity.tenants'),
    async tenantNames(slugs) {
      const rows = await database.query<{ slug: string; name: string }>(
        'select tenant_id as slug, name from rm_identity.tenants where tenant_id = any($1::text[])',
        [slugs],
      );
      return new Map(rows.map(({ slug, name }) => [slug, name]));
    },
    async changedTenants(after) {
      const rows = await database.query<
        Omit<ChangedTenant, 'tenant'> & { readonly tenant: ChangedTenant['tenant'] | null }
      >(
        `select c.slug, c.position,
           (select jsonb_build_object('domains', t.domains, 'disabled', t.disabled) from rm_identity.tenants t
             where t.tenant_id = c.slug) as tenant,
           coalesce((select jsonb_agg(jsonb_build_object('role', r.role, 'schema_name', r.schema_name,
             'actions', r.actions, 'field_mask', r.field_mask))
             from rm_identity.access_rules r where r.tenant_id = c.slug), '[]') as rules
         from rm_identity.tenant_changes c where c.position > $1 order by c.position`,
        [after],
        'identity-changed-tenants',
      );
      return rows.map((row) => ({ ...row, tenant: row.tenant ?? undefined }));
    },

    accessRule: ({ tenant, ruleId }) =>
      first<AccessRuleRecord>(
        `select ${ACCESS_RULE} from rm_identity.access_rules where tenant_id = $1 and rule_id = $2`,
        [tenant, ruleId],
      ),
    accessRules: ({ limit, offset, ...filter }) =>
      database.query<AccessRuleRecord>(
        `select ${ACCESS_RULE} ${MATCHING_RULES} order by role, schema_name limit $4 offset $5`,
        [...filterValues(filter), limit, offset],
      ),
    countAccessRules: (filter) => count(`select count(*) as n ${MATCHING_RULES}`, filterValues(filter)),

    apiKeysNaming: ({ tenant, schema }) =>
      database.query<ApiKeyRecord>(
        `select ${API_KEY} from rm_identity.api_keys where tenant_id = $1 and $2 = any(schemas) order by key_id`,
        [tenant, schema],
      ),
    apiKeyByHash: (hashes) =>
      first<KeyWithSecret>(
        `select ${API_KEY}, case when key_hash = any($1::text[]) then null else previous_until end as "secretUntil"
         from rm_identity.api_keys where key_hash = any($1::text[]) or previous_hash = any($1::text[])`,
        [hashes],
        'identity-key-by-hash',
      ),
    apiKeyById: ({ tenant, keyId }) =>
      first<ApiKeyRecord>(`select ${API_KEY} from rm_identity.api_keys where tenant_id = $1 and key_id = $2`, [
        tenant,
        keyId,
      ]),
    apiKeys: ({ tenant, limit, offset }) =>
      database.query<ApiKeyRecord>(
        `select ${API_KEY} from rm_identity.api_keys where tenant_id = $1 order by created_at desc, key_id desc
         limit $2 offset $3`,
        [tenant, limit, offset],
      ),
    countApiKeys: (tenant) => count('select count(*) as n from rm_identity.api_keys where tenant_id = $1', [tenant]),
    countActiveApiKeys: (tenant, now) =>
      count(
        'select count(*) as n from rm_identity.api_keys where tenant_id = $1 and enabled and (expires_at is null or expires_at > $2)',
        [tenant, now],
      ),

    adminTokenByHash: (hashes) =>
      first<AdminTokenRecord>(
        `select ${ADMIN_TOKEN} from rm_identity.admin_tokens where token_hash = any($1::text[])`,
        [hashes],
        'identity-token-by-hash',
      ),
    adminTokenById: ({ tenant, tokenId }) =>
      first<AdminTokenRecord>(
        `select ${ADMIN_TOKEN} from rm_identity.admin_tokens where tenant_id = $1 and token_id = $2`,
        [tenant, tokenId],
      ),
    adminTokens: ({ tenant, limit, offset }) =>
      database.query<AdminTokenRecord>(
        `select ${ADMIN_TOKEN} from rm_identity.admin_tokens where tenant_id = $1
         order by created_at desc, token_id desc limit $2 offset $3`,
        [tenant, limit, offset],
      ),
    countAdminTokens: (tenant) =>
      count('select count(*) as n from rm_identity.admin_tokens where tenant_id = $1', [tenant]),
  };
}

function filterValues({ tenant, role, schemaName }: AccessRuleFilter): readonly unknown[] {
  return [tenant, role ?? null, schemaName ?? null];
}
