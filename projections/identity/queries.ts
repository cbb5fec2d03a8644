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
  readonly memberships: readonly { readonly tenant: string; readonly roles: readonly string[] }[];
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
  u.last_login_at as "lastLoginAt", u.revision, u.sessions_revision as "sessionsRevision",
  coalesce((select jsonb_agg(jsonb_build_object('tenant', m.tenant_id, 'roles', m.roles) order by m.joined_at, m.tenant_id)
    from rm_identity.memberships m where m.user_id = u.user_id), '[]') as memberships`;

const API_KEY = `key_id as id, tenant_id as tenant, name, prefix, scopes, roles, schemas, enabled, expires_at as "expiresAt",
  monthly_limit as "monthlyLimit", created_at as "createdAt"`;

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
    async userByEmail(emailDigest: string): Promise<UserAnswer | undefined> {
      return (await queryable.query<UserAnswer>(`select ${USER} from rm_identity.users u where u.email_digest = $1`, [emailDigest]))[0];
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
    async apiKeyByHash(keyHash: string): Promise<ApiKeyAnswer | undefined> {
      return (await queryable.query<ApiKeyAnswer>(`select ${API_KEY} from rm_identity.api_keys where key_hash = $1`, [keyHash], 'identity-key-by-hash'))[0];
    },
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
