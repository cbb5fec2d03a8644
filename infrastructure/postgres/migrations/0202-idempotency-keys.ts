import type { Migration } from './migration.ts';

/** Answers stored for repeated requests with an `Idempotency-Key`. */
export const idempotencyKeys: Migration = {
  id: '0202-idempotency-keys',
  sql: `
    create table operational.idempotency_keys (
      tenant_id text not null,
      route text not null,
      caller text not null,
      key text not null,
      body_hash text not null,
      attempt uuid not null,
      state text not null check (state in ('in_progress', 'done')),
      status integer,
      headers jsonb,
      body text,
      locked_until timestamptz not null,
      expires_at timestamptz not null,
      primary key (tenant_id, route, caller, key)
    );
    create index idempotency_keys_expiry on operational.idempotency_keys (expires_at);
  `,
};
