import type { Database } from '../postgres/database.ts';
import { deleteInBatches } from '../postgres/delete-in-batches.ts';

export type SweepWebhookRecordsInput = {
  /** Days that a delivery and its attempts are kept after the last attempt; 0 or less keeps them forever. */
  readonly retentionDays: number;
  /** Most messages that one statement deletes. Default: 500. */
  readonly batchSize?: number;
  readonly signal?: AbortSignal;
};

const SWEEP = `
  with old as (
    select m.id from operational.webhook_messages m
    where m.created_at < now() - make_interval(days => $1)
      and not exists (select from operational.webhook_queue q where q.message_id = m.id)
      and not exists (select from operational.webhook_dead_letters d where d.message_id = m.id and d.status = 'pending')
      and not exists (select from operational.webhook_attempts a
        where a.message_id = m.id and a.created_at >= now() - make_interval(days => $1))
    limit $2 for update of m skip locked),
  attempts as (delete from operational.webhook_attempts a using old where a.message_id = old.id)
  delete from operational.webhook_messages m using old where m.id = old.id`;

/**
 * Deletes old messages and their attempts. Messages that are queued or have a pending dead letter are kept.
 * @returns the number of deleted messages
 */
export async function sweepWebhookRecords(
  { retentionDays, batchSize = 500, signal }: SweepWebhookRecordsInput,
  { database }: { readonly database: Pick<Database, 'execute'> },
): Promise<number> {
  if (retentionDays <= 0) return 0;
  return deleteInBatches({ statement: SWEEP, values: [retentionDays], batchSize, signal }, { database });
}
