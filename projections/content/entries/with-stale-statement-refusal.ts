import { codeOf } from '../../../domain/code-of.ts';
import { refusal } from '../../../domain/errors.ts';
import type { Database } from '../../../infrastructure/postgres/database.ts';

/** SQLSTATE of an unknown table, column or function, and of a column whose type does not fit the statement. */
const STALE = ['42P01', '42703', '42883', '42804', '42846'];

/**
 * Wraps a database for statements that are made from a content type in memory. Between a change of a typed table and
 * the reload of its content type, a statement may use a table or column that no longer exists or has another type. Such
 * a statement is refused with `ddl_in_progress` and `Retry-After: 1` instead of an internal error.
 */
export function withStaleStatementRefusal(database: Database): Database {
  return {
    ...database,
    query: <Row extends object>(text: string, values?: readonly unknown[], name?: string) =>
      database.query<Row>(text, values, name).catch(refuse),
    execute: (text, values, name) => database.execute(text, values, name).catch(refuse),
    transaction: (work, options) => database.transaction(work, options).catch(refuse),
    outerTransaction: (work, options) => database.outerTransaction(work, options).catch(refuse),
  };
}

function refuse(error: unknown): never {
  if (STALE.includes(codeOf(error) ?? ''))
    throw refusal('ddl_in_progress', { headers: { 'Retry-After': '1' }, cause: error });
  throw error;
}
