import type { Migration } from './migration.ts';

/** An index to find delivery records past their retention. */
export const webhookRetention: Migration = {
  id: '0401-webhook-retention',
  sql: `
    create index webhook_messages_age on operational.webhook_messages using brin (created_at) with (pages_per_range = 16);
    create index webhook_dead_letters_pending on operational.webhook_dead_letters (message_id) where status = 'pending'`,
};
