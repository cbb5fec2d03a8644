import type { Migration } from './migration.ts';

/** Magic links and the history of sign-ins with them. */
export const magicLinks: Migration = {
  id: '0341-magic-links',
  sql: `
    create table operational.magic_links (
      token_digest text primary key,
      tenant_id text not null,
      host text,
      email jsonb not null,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      used_at timestamptz
    );
    create index magic_links_created on operational.magic_links (created_at);
    comment on column operational.magic_links.email is 'Sealed; a row is made for every address that is asked for, whether or not there is an account';
    create table operational.magic_link_sign_ins (
      id uuid primary key,
      tenant_id text not null,
      user_id uuid not null,
      outcome text not null,
      new_user boolean not null,
      at timestamptz not null,
      address jsonb not null
    );
    create index magic_link_sign_ins_at on operational.magic_link_sign_ins (at);
    create index magic_link_sign_ins_user on operational.magic_link_sign_ins (user_id);
    comment on column operational.magic_link_sign_ins.address is 'Address of the client, sealed under the key of the person'`,
};
