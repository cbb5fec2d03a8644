import type { Migration } from './migration.ts';

/**
 * Usage of API keys and admin tokens by UTC calendar month (`2026-11`), as totals. A row with the period `deleted`
 * marks a credential deleted with its history, so that no process stores buffered requests of it.
 */
export const apiKeyUsage: Migration = {
  id: '0321-api-key-usage',
  sql: `
    create table operational.api_key_usage (
      tenant_id text not null,
      key_id uuid not null,
      period text not null,
      requests bigint not null default 0,
      bytes_in bigint not null default 0,
      bytes_out bigint not null default 0,
      last_used_at timestamptz,
      primary key (tenant_id, key_id, period)
    )`,
};
