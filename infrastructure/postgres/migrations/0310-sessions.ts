import type { Migration } from './migration.ts';

/** Sessions and their refresh tokens, stored by digest. All tokens of a session form one family. */
export const sessions: Migration = {
  id: '0310-sessions',
  sql: `
    create table operational.sessions (
      session_id uuid primary key,
      user_id uuid not null,
      tenant_id text not null,
      sessions_revision integer not null,
      created_at timestamptz not null default now(),
      expires_at timestamptz not null,
      ended_at timestamptz
    );
    create index on operational.sessions (expires_at);
    create table operational.refresh_tokens (
      token_digest text primary key,
      session_id uuid not null references operational.sessions on delete cascade,
      expires_at timestamptz not null,
      used_at timestamptz
    );
    create index on operational.refresh_tokens (session_id)`,
};
