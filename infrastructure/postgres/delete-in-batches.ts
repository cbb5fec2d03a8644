import type { Database, SqlValue } from './database.ts';

export type DeleteInBatchesInput = {
  /** Deletes rows; its last parameter is the maximum number of rows. */
  readonly statement: string;
  /** Values of the parameters before the last one. */
  readonly values?: readonly SqlValue[];
  /** Maximum number of rows that one statement deletes. */
  readonly batchSize: number;
  /** Ends the deletion after the statement that runs. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * Deletes rows by short statements until none is left, so that no statement holds many locks.
 * @returns the number of deleted rows
 */
export async function deleteInBatches(
  { statement, values = [], batchSize, signal }: DeleteInBatchesInput,
  { database }: { readonly database: Pick<Database, 'execute'> },
): Promise<number> {
  for (let deleted = 0; ;) {
    const batch = await database.execute(statement, [...values, batchSize]);
    deleted += batch;
    if (batch < batchSize || signal?.aborted === true) return deleted;
  }
}
