import type { Migration } from './migration.ts';

/** Audit chains: one link per event, one head per tenant, and the position up to which the log is chained. */
export const auditChain: Migration = {
  id: '0600-audit-chain',
  sql: `
    create table operational.audit_links (
      tenant_id text not null,
      seq int8 not null,
      position text collate "C" not null,
      event_id uuid not null,
      digest text not null,
      mac text not null,
      primary key (tenant_id, seq)
    );
    comment on table operational.audit_links is 'HMAC chain over each tenant''s events: digests only. Rows go with no event, so that a missing one is missed';
    create table operational.audit_heads (
      tenant_id text primary key,
      seq int8 not null,
      position text collate "C" not null,
      mac text not null,
      head_mac text not null,
      sealed_seq int8 not null,
      unsealed int8 not null,
      sealed_at timestamptz(3) not null
    );
    comment on table operational.audit_heads is 'End of each chain, authenticated by head_mac, and the part of it that audit signatures cover';
    create table operational.audit_progress (only_row boolean primary key default true check (only_row), position text collate "C" not null);
    comment on table operational.audit_progress is 'Position up to which the log is chained; its row is locked by the process that extends the chains';
    insert into operational.audit_progress (position) values ('00000000000000000000');
  `,
};
