import type { SchemaStatement } from '../../domain/content/definition.ts';
import type { ValueCheck } from '../../domain/content/schema-diff.ts';
import { refusal } from '../../domain/errors.ts';
import type { EntryValue, SchemaSession } from '../ports/schema-workbench.ts';
import { inProgress } from './change-content-type.ts';

export type TryOut = { readonly tenant: string; readonly table: string; readonly statements: readonly SchemaStatement[]; readonly checks?: readonly ValueCheck[] };

/**
 * Tries statements in the live tables, where all of them must go through.
 * @returns the values of the checked unique fields, as the change leaves them
 * @throws `ddl_in_progress` when a table could not be had in time; `schema_migration_failed`
 */
export async function tryOut({ checks = [], ...trial }: TryOut, session: SchemaSession): Promise<readonly EntryValue[]> {
  const outcome = await session.tryOut({ ...trial, checks });
  if (outcome.outcome === 'locked') throw inProgress();
  if (outcome.outcome === 'refused') throw refusal('schema_migration_failed', { cause: outcome.reason });
  return outcome.unique;
}
