import type { Migration } from './migration.ts';

/** Sign-ins requested by devices without a browser; they are valid for minutes. */
export const deviceSignIns: Migration = {
  id: '0342-device-sign-ins',
  sql: `
    create table operational.device_sign_ins (
      device_digest text primary key,
      user_digest text not null unique,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      polled_at timestamptz,
      decision text check (decision in ('approved', 'denied')),
      user_id uuid,
      tenant_id text,
      sessions_revision integer,
      used_at timestamptz
    );
    create index device_sign_ins_expire on operational.device_sign_ins (expires_at);
    comment on column operational.device_sign_ins.user_digest is 'Keyed digest of the code that the person types'`,
};
