import type { Migration } from './migration.ts';

/** The trace context of a delivery's event, so that its request belongs to the trace of the write (`OTEL_*`). */
export const webhookTraceparent: Migration = {
  id: '0402-webhook-traceparent',
  sql: 'alter table operational.webhook_messages add column traceparent text',
};
