import type { Migration } from './migration.ts';

/**
 * The state that all audit chains have in common, under a MAC. The first process that extends the chains fills the
 * table from `audit_progress` and `audit_heads`, because it needs the key.
 */
export const auditState: Migration = {
  id: '0601-audit-state',
  sql: `
    create table operational.audit_state (
      only_row boolean primary key default true check (only_row),
      position text collate "C" not null,
      events int8 not null,
      chains int8 not null,
      heads_sum text not null,
      generation int4 not null,
      stopped jsonb not null,
      mac text not null
    );
    comment on table operational.audit_state is 'How far the log is chained, a sum over all heads and which chains are stopped, proved by mac';
    comment on table operational.audit_progress is 'How far the log was chained before operational.audit_state existed; empty since then';
  `,
};
