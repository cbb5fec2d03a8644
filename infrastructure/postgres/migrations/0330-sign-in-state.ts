import type { Migration } from './migration.ts';

/**
 * Short-lived state of sign-ins: unconfirmed authenticators, used codes, challenges and reset tokens. Tokens are stored
 * by digest.
 */
export const signInState: Migration = {
  id: '0330-sign-in-state',
  sql: `
    create table operational.authenticators (
      user_id uuid primary key,
      proposed jsonb,
      proposed_until timestamptz,
      last_step bigint
    );
    create table operational.sign_in_challenges (
      token_digest text primary key,
      user_id uuid not null,
      tenant_id text not null,
      method text not null,
      sessions_revision integer not null,
      expires_at timestamptz not null
    );
    create index on operational.sign_in_challenges (expires_at);
    create table operational.password_resets (
      token_digest text primary key,
      user_id uuid,
      password_mark text,
      expires_at timestamptz not null
    );
    create index on operational.password_resets (expires_at);
    comment on column operational.password_resets.user_id is 'Null where an address has no account: such a request leaves the same row';
    comment on column operational.password_resets.password_mark is 'Which password the token may replace; another one by now makes it worthless'`,
};
