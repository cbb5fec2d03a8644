import type { Database } from '../postgres/database.ts';
import { deleteInBatches } from '../postgres/delete-in-batches.ts';

export type SweepDeadLettersInput = {
  /** Days that dead letters of webhooks are kept; 0 or less keeps them forever. */
  readonly letterDays: number;
  /** Days that dead events of workers are kept; 0 or less keeps them forever. */
  readonly eventDays: number;
  /** Most rows that one statement deletes. Default: 500. */
  readonly batchSize?: number;
  readonly signal?: AbortSignal;
};

/** A dead letter is kept until its event is appended. */
const LETTERS = `delete from operational.webhook_dead_letters where id in (
  select id from operational.webhook_dead_letters
  where created_at < now() - make_interval(days => $1) and announced_at is not null limit $2 for update skip locked)`;
const EVENTS = `delete from operational.dead_events where (worker, event_id) in (
  select worker, event_id from operational.dead_events where parked_at < now() - make_interval(days => $1)
    limit $2 for update skip locked)`;

/** Deletes old dead letters of webhooks and old dead events of workers. @returns the number of deleted rows */
export async function sweepDeadLetters(
  { letterDays, eventDays, batchSize = 500, signal }: SweepDeadLettersInput,
  { database }: { readonly database: Pick<Database, 'execute'> },
): Promise<number> {
  let removed = 0;
  for (const [statement, days] of [
    [LETTERS, letterDays],
    [EVENTS, eventDays],
  ] as const) {
    if (days <= 0 || signal?.aborted === true) continue;
    removed += await deleteInBatches({ statement, values: [days], batchSize, signal }, { database });
  }
  return removed;
}
