import type { Migration } from './migration.ts';

/** What a delivery is made for, so that its request stands in the trace of the write (`OTEL_*`). */
export const webhookTraceparent: Migration = {
  id: '0402-webhook-traceparent',
  sql: 'alter table operational.webhook_messages add column traceparent text',
};
