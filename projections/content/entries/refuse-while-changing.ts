import { refusal } from '../../../domain/errors.ts';
import type { Queryable } from '../../../infrastructure/postgres/database.ts';

/** SQLSTATE of a table or column that is not there. */
const GONE = ['42P01', '42703'];

/**
 * For statements made from a content type in memory: in the moment between a rename or removal in the table and its news, the type names what is
 * not there any more. Such a statement is refused with `ddl_in_progress`, to be sent again, instead of failing.
 */
export function refusingWhileChanging(database: Queryable): Queryable {
  return {
    query: <Row extends object>(text: string, values?: readonly unknown[], name?: string) => database.query<Row>(text, values, name).catch(refuse),
    execute: (text, values, name) => database.execute(text, values, name).catch(refuse),
  };
}

function refuse(error: unknown): never {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (typeof code === 'string' && GONE.includes(code)) throw refusal('ddl_in_progress', { headers: { 'Retry-After': '1' }, cause: error });
  throw error;
}
