import type { Database } from '../postgres/database.ts';
import { deleteInBatches } from '../postgres/delete-in-batches.ts';

export type SweepApiKeyRequestsInput = {
  /** Days that a request is kept; 0 or less keeps requests forever. */
  readonly retentionDays: number;
  /** Rows that one statement deletes. Default 2,000. */
  readonly batchSize?: number;
  readonly signal?: AbortSignal;
};

const SWEEP = `delete from operational.api_key_requests where ctid = any (array(
  select ctid from operational.api_key_requests where at < now() - make_interval(days => $1) limit $2))`;

/** Deletes old requests from the log of API keys and admin tokens. @returns the number of deleted rows */
export async function sweepApiKeyRequests(
  { retentionDays, batchSize = 2_000, signal }: SweepApiKeyRequestsInput,
  { database }: { readonly database: Pick<Database, 'execute'> },
): Promise<number> {
  if (retentionDays <= 0) return 0;
  return deleteInBatches({ statement: SWEEP, values: [retentionDays], batchSize, signal }, { database });
}
