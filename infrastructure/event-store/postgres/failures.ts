import type { AppError } from '../../../domain/errors.ts';
import { isAppError, refusal } from '../../../domain/errors.ts';

/** SQLSTATE of an error that the server answered; undefined when the connection failed instead. */
function sqlState(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** Whether the server itself refused the statement and rolled it back, and lives on. */
export function isRolledBack(error: unknown): boolean {
  return sqlState(error) !== undefined && typeof error === 'object' && error !== null && 'severity' in error && error.severity === 'ERROR';
}

/** SQLSTATE classes that time may mend: connection, transaction rollback, resources, object in use, operator intervention, system. */
const PASSING = new Set(['08', '25', '40', '53', '55', '57', '58']);

/** Whether the same statement may well succeed later. Everything that is no answer of the server may. */
export function isPassing(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined ? !isAppError(error) && !(error instanceof TypeError) && !(error instanceof RangeError) : PASSING.has(state.slice(0, 2));
}

/** The port's refusal for a failure of which it is known that nothing was written. */
export function refusalOf(error: unknown): AppError {
  if (isAppError(error)) return error;
  const state = sqlState(error);
  const kind = state?.slice(0, 2);
  if (kind === '28' || state === '42501') return refusal('store_access_denied', { cause: error });
  if (kind === '22' || kind === '23' || kind === '54') return refusal('invalid_append', { cause: error });
  return refusal('store_unavailable', { cause: error });
}
