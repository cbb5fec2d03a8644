import { serverCondition } from '../../../application/ports/transient-errors.ts';
import { codeOf } from '../../../domain/code-of.ts';
import { type AppError, isAppError, refusal } from '../../../domain/errors.ts';

/** @returns the SQLSTATE of an error that the server reported; undefined when the connection failed instead. */
function sqlState(error: unknown): string | undefined {
  const code = codeOf(error);
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** Whether the server refused the statement and rolled it back, so that the connection is still usable. */
export function isRolledBack(error: unknown): boolean {
  return (
    sqlState(error) !== undefined &&
    typeof error === 'object' &&
    error !== null &&
    'severity' in error &&
    error.severity === 'ERROR'
  );
}

/**
 * Whether the same statement may succeed later: the server reports a condition that may end, or the failure is
 * neither a response of the server nor a programming error.
 */
export function mayRetry(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return serverCondition(state) !== undefined;
  return !isAppError(error) && !(error instanceof TypeError) && !(error instanceof RangeError);
}

/** @returns the port's refusal for a failure after which nothing was written. */
export function refusalOf(error: unknown): AppError {
  if (isAppError(error)) return error;
  const state = sqlState(error);
  const kind = state?.slice(0, 2);
  if (kind === '28' || state === '42501') return refusal('store_access_denied', { cause: error });
  if (kind === '22' || kind === '23' || kind === '54') return refusal('invalid_append', { cause: error });
  return refusal('store_unavailable', { cause: error });
}
