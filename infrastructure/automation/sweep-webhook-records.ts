import type { Database } from '../postgres/database.ts';

export type SweepWebhookRecordsOptions = {
  /** Days that the record of a delivery is kept after its last attempt; 0 or less keeps it for ever. */
  readonly retentionDays: number;
  /** Messages that one statement removes. Default 500. */
  readonly batchSize?: number;
  readonly signal?: AbortSignal;
};

const SWEEP = `
  with old as (
    select m.id from operational.webhook_messages m
    where m.created_at < now() - make_interval(days => $1)
      and not exists (select from operational.webhook_queue q where q.message_id = m.id)
      and not exists (select from operational.webhook_dead_letters d where d.message_id = m.id and d.status = 'pending')
      and not exists (select from operational.webhook_attempts a where a.message_id = m.id and a.created_at >= now() - make_interval(days => $1))
    limit $2 for update of m skip locked),
  attempts as (delete from operational.webhook_attempts a using old where a.message_id = old.id)
  delete from operational.webhook_messages m using old where m.id = old.id`;

/** Removes what was sent long ago with the record of its attempts; never what is still to be sent or may be replayed. @returns messages removed */
export async function sweepWebhookRecords(database: Pick<Database, 'execute'>, { retentionDays, batchSize = 500, signal }: SweepWebhookRecordsOptions): Promise<number> {
  if (retentionDays <= 0) return 0;
  for (let removed = 0; ; ) {
    const batch = await database.execute(SWEEP, [retentionDays, batchSize]);
    removed += batch;
    if (batch < batchSize || signal?.aborted === true) return removed;
  }
}
