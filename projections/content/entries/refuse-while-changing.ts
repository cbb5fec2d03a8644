import { refusal } from '../../../domain/errors.ts';
import type { Database } from '../../../infrastructure/postgres/database.ts';

/** SQLSTATE of a table or column that is not there, and of one that is of another type than the statement takes it for. */
const CHANGED = ['42P01', '42703', '42883', '42804', '42846'];

/**
 * For statements made from a content type in memory: in the moment between a change of the table and its news, the type names what is not there
 * any more, or takes it for what it was. Such a statement is refused with `ddl_in_progress`, to be sent again, instead of failing.
 */
export function refusingWhileChanging(database: Database): Database {
  return {
    ...database,
    query: <Row extends object>(text: string, values?: readonly unknown[], name?: string) => database.query<Row>(text, values, name).catch(refuse),
    execute: (text, values, name) => database.execute(text, values, name).catch(refuse),
    transaction: (work, options) => database.transaction(work, options).catch(refuse),
  };
}

function refuse(error: unknown): never {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (typeof code === 'string' && CHANGED.includes(code)) throw refusal('ddl_in_progress', { headers: { 'Retry-After': '1' }, cause: error });
  throw error;
}
