import { DEFAULT_TENANT } from '../../domain/identity/memberships.ts';
import type { Transaction } from '../../infrastructure/postgres/database.ts';
import type { ProjectedTable, Target } from '../engine/projection.ts';

/**
 * Creates the empty tables of the identity read model.
 * - Addresses and password hashes stay sealed, as in the events.
 * - A membership that ended keeps its row (`member` is false), so that sessions opened before it stay ended.
 * - `deleted_tenants` marks tenants whose later events are ignored.
 * - `changes` and `tenant_changes` hold the positions of the last events that changed the rights of a credential, a
 *   tenant or its access rules. Caches use them. They are not part of the digests, because positions differ between
 *   stores.
 */
export async function createTables(tx: Transaction, { schema }: Target): Promise<void> {
  await tx.query(`
    create table ${schema}.users (
      tenant_id text not null,
      user_id uuid primary key,
      email jsonb not null,
      password_hash jsonb not null,
      roles text[] not null,
      disabled boolean not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      last_login_at timestamptz,
      revision integer not null,
      sessions_revision integer not null,
      kept_session uuid,
      mfa jsonb
    );
    create index on ${schema}.users (user_id) where 'super_admin' = any(roles) and not disabled;
    create table ${schema}.changes (
      tenant_id text primary key,
      position text not null
    );
    create table ${schema}.memberships (
      tenant_id text not null,
      user_id uuid not null,
      roles text[] not null,
      joined_at timestamptz not null,
      member boolean not null,
      sessions_revision integer not null,
      primary key (user_id, tenant_id)
    );
    create index on ${schema}.memberships (tenant_id);
    create table ${schema}.api_keys (
      tenant_id text not null,
      key_id uuid primary key,
      name text not null,
      prefix text not null,
      key_hash text not null unique,
      previous_hash text unique,
      previous_until timestamptz,
      scopes text[] not null,
      roles text[] not null,
      schemas text[] not null,
      enabled boolean not null,
      expires_at timestamptz,
      monthly_limit bigint not null,
      created_at timestamptz not null,
      revision integer not null
    );
    create index on ${schema}.api_keys (tenant_id, key_id);
    create table ${schema}.admin_tokens (
      tenant_id text not null,
      token_id uuid primary key,
      name text not null,
      token_hash text not null unique,
      grants text[] not null,
      created_by text not null,
      created_at timestamptz not null,
      issued_by text not null,
      issued_at timestamptz not null,
      expires_at timestamptz not null,
      revoked boolean not null
    );
    create index on ${schema}.admin_tokens (tenant_id, created_at desc);
    create table ${schema}.tenants (
      tenant_id text primary key,
      name text not null,
      domains text[] not null,
      disabled boolean not null,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create table ${schema}.access_rules (
      tenant_id text not null,
      rule_id uuid not null,
      role text not null,
      schema_name text not null,
      actions text[] not null,
      field_mask text[] not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      primary key (tenant_id, rule_id)
    );
    create table ${schema}.deleted_tenants (
      tenant_id text not null default '${DEFAULT_TENANT}',
      slug text primary key
    );
    create table ${schema}.tenant_changes (
      tenant_id text not null default '${DEFAULT_TENANT}',
      slug text primary key,
      position text not null
    );
    create index on ${schema}.tenant_changes (position);
  `);
}

/**
 * The canonical row texts for digests. Times are seconds and lists are JSON, so the text does not depend on session
 * settings.
 */
export const TABLES: readonly ProjectedTable[] = [
  {
    table: 'users',
    canonical: `jsonb_build_array(t.tenant_id, t.user_id, t.email, t.password_hash, to_jsonb(t.roles), t.disabled,
      extract(epoch from t.created_at), extract(epoch from t.updated_at), extract(epoch from t.last_login_at),
      t.revision, t.sessions_revision, t.kept_session, t.mfa)::text`,
  },
  {
    table: 'memberships',
    canonical:
      'jsonb_build_array(t.tenant_id, t.user_id, to_jsonb(t.roles), extract(epoch from t.joined_at), t.member, t.sessions_revision)::text',
  },
  {
    table: 'api_keys',
    canonical: `jsonb_build_array(t.tenant_id, t.key_id, t.name, t.prefix, t.key_hash, t.previous_hash,
      extract(epoch from t.previous_until), to_jsonb(t.scopes), to_jsonb(t.roles), to_jsonb(t.schemas), t.enabled,
      extract(epoch from t.expires_at), t.monthly_limit, extract(epoch from t.created_at), t.revision)::text`,
  },
  {
    table: 'admin_tokens',
    canonical: `jsonb_build_array(t.tenant_id, t.token_id, t.name, t.token_hash, to_jsonb(t.grants), t.created_by,
      extract(epoch from t.created_at), t.issued_by,
      extract(epoch from t.issued_at), extract(epoch from t.expires_at), t.revoked)::text`,
  },
  {
    table: 'tenants',
    canonical:
      'jsonb_build_array(t.tenant_id, t.name, to_jsonb(t.domains), t.disabled, extract(epoch from t.created_at), extract(epoch from t.updated_at))::text',
  },
  {
    table: 'access_rules',
    canonical: `jsonb_build_array(t.tenant_id, t.rule_id, t.role, t.schema_name, to_jsonb(t.actions),
      to_jsonb(t.field_mask), extract(epoch from t.created_at),
      extract(epoch from t.updated_at))::text`,
  },
  { table: 'deleted_tenants', canonical: 't.slug' },
];
