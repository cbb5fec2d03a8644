import type { Migration } from './migration.ts';

/** The request that used an `Idempotency-Key` first. Each repeat uses its id and its time again. */
export const idempotencyRequests: Migration = {
  id: '0206-idempotency-requests',
  sql: `
    alter table operational.idempotency_keys
      add column request_id uuid not null default gen_random_uuid(),
      add column begun_at timestamptz not null default clock_timestamp();
  `,
};
