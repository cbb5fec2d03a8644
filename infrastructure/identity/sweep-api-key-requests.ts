import type { Database } from '../postgres/database.ts';

export type SweepApiKeyRequestsInput = {
  /** Days that a request is kept; 0 or less keeps requests forever. */
  readonly retentionDays: number;
  /** Rows that one statement deletes. Default 2,000. */
  readonly batchSize?: number;
  readonly signal?: AbortSignal;
};

/** Deletes old requests from the log of API keys and admin tokens. @returns the number of deleted rows */
export async function sweepApiKeyRequests(
  { retentionDays, batchSize = 2_000, signal }: SweepApiKeyRequestsInput,
  { database }: { readonly database: Pick<Database, 'execute'> },
): Promise<number> {
  if (retentionDays <= 0) return 0;
  for (let removed = 0; ;) {
    const batch = await database.execute(
      `delete from operational.api_key_requests where ctid = any (array(select ctid from operational.api_key_requests where at < now() - make_interval(days => $1) limit $2))`,
      [retentionDays, batchSize],
    );
    removed += batch;
    if (batch < batchSize || signal?.aborted === true) return removed;
  }
}
