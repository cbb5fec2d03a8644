import type { Migration } from './migration.ts';

/**
 * Requests made with API keys; the client's address is sealed. Ids are UUIDs of version 7, so they are ordered by time.
 */
export const apiKeyRequests: Migration = {
  id: '0320-api-key-requests',
  sql: `
    create table operational.api_key_requests (
      tenant_id text not null,
      key_id uuid not null,
      id uuid not null,
      at timestamptz not null,
      method text not null,
      path text not null,
      status smallint not null,
      ip jsonb not null,
      bytes_in bigint not null,
      bytes_out bigint not null,
      primary key (tenant_id, key_id, id)
    );
    create index on operational.api_key_requests using brin (at)`,
};
