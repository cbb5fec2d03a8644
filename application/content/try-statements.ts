import type { ValueCheck } from '../../domain/content/schema-diff.ts';
import type { SchemaStatement } from '../../domain/content/schema-statement.ts';
import { refusal } from '../../domain/errors.ts';
import type { EntryValue, SchemaSession } from '../ports/schema-sessions.ts';
import { changeInProgress } from './content-type-dependencies.ts';

export type TryStatementsInput = {
  readonly tenant: string;
  readonly table: string;
  readonly statements: readonly SchemaStatement[];
  readonly checks?: readonly ValueCheck[];
};

/**
 * Runs statements in the live tables and rolls them back. All of them must succeed.
 * @returns the values of the fields with a `unique` check, after the change
 * @throws `ddl_in_progress` when a table could not be locked in time; `schema_migration_failed`
 */
export async function tryStatements(
  { checks = [], ...trial }: TryStatementsInput,
  session: SchemaSession,
): Promise<readonly EntryValue[]> {
  const outcome = await session.tryOut({ ...trial, checks });
  if (outcome.outcome === 'locked') throw changeInProgress();
  if (outcome.outcome === 'refused') throw refusal('schema_migration_failed', { cause: outcome.reason });
  return outcome.unique;
}
