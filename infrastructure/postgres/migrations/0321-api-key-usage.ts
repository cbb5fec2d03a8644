import type { Migration } from './migration.ts';

/**
 * What keys and admin tokens used, by UTC calendar month (`2026-11`): counts of requests, not the requests. A row of the period `deleted` says that
 * the credential is gone with its history, so that no process writes what it still held of it.
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
