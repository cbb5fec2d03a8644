import type { Database } from './database.ts';
import { deleteInBatches } from './delete-in-batches.ts';

/** Maximum number of rows that one statement deletes. */
const BATCH = 1_000;

/**
 * Deletes the rows of a table that expired before `now` (column `expires_at`), by short statements.
 * @returns the number of deleted rows
 */
export function deleteExpired(
  { table, key, now }: { readonly table: string; readonly key: string; readonly now: Date },
  dependencies: { readonly database: Pick<Database, 'execute'> },
): Promise<number> {
  const statement = `delete from ${table} where ${key} in (select ${key} from ${table} where expires_at < $1 limit $2)`;
  return deleteInBatches({ statement, values: [now], batchSize: BATCH }, dependencies);
}
