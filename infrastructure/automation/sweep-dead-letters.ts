import type { Database } from '../postgres/database.ts';

export type SweepDeadLettersOptions = {
  /** Days that dead letters of webhooks are kept; 0 or less keeps them for ever. */
  readonly letterDays: number;
  /** Days that events which a worker could not handle are kept on record; 0 or less keeps them for ever. */
  readonly eventDays: number;
  /** Rows that one statement removes. Default 500. */
  readonly batchSize?: number;
  readonly signal?: AbortSignal;
};

/** What is not announced yet stays: its event is still to come. */
const LETTERS = `delete from operational.webhook_dead_letters where id in (
  select id from operational.webhook_dead_letters where created_at < now() - make_interval(days => $1) and announced_at is not null limit $2 for update skip locked)`;
const EVENTS = `delete from operational.dead_events where (worker, event_id) in (
  select worker, event_id from operational.dead_events where parked_at < now() - make_interval(days => $1) limit $2 for update skip locked)`;

/** Removes dead letters of webhooks, and records of events that no worker could handle, when they are old enough. @returns rows removed */
export async function sweepDeadLetters(database: Pick<Database, 'execute'>, { letterDays, eventDays, batchSize = 500, signal }: SweepDeadLettersOptions): Promise<number> {
  let removed = 0;
  for (const [statement, days] of [[LETTERS, letterDays], [EVENTS, eventDays]] as const) {
    for (let batch = batchSize; days > 0 && batch === batchSize && signal?.aborted !== true; ) {
      batch = await database.execute(statement, [days, batchSize]);
      removed += batch;
    }
  }
  return removed;
}
