import { isAppError } from '../../domain/errors.ts';

/** Node's and the drivers' words for a connection that is not there. */
const LOST = /ECONN|EPIPE|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|EHOSTUNREACH|ENETUNREACH/;
const LOST_MESSAGE = /connection terminated|connection error|timeout exceeded when trying to connect|client was closed|not queryable/i;
/** SQLSTATE: connection, resources, operator (shutdown, cancel), serialization, deadlock, lock not available, idle in transaction. */
const PASSING_STATE = /^(08|53|57|40)|^55P03$|^25P0[34]$/;
const PASSING_CODES = new Set(['store_unavailable', 'unavailable', 'outcome_unknown']);

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Whether trying again may mend it: the world failed, not the event. */
export function isPassing(error: unknown): boolean {
  const code = codeOf(error);
  if (PASSING_CODES.has(code) || LOST.test(code)) return true;
  if (code.length === 5 && PASSING_STATE.test(code)) return true;
  return error instanceof Error && LOST_MESSAGE.test(error.message);
}

/** An error for operators, without the values that a database puts into its messages (rule 11). */
export function reasonOf(error: unknown): string {
  if (isAppError(error)) return `${error.code}: ${error.message}`;
  if (error instanceof Error && 'severity' in error) {
    const place = ['schema', 'table', 'column', 'constraint'].flatMap((key) => {
      const value: unknown = Reflect.get(error, key);
      return typeof value === 'string' ? [`${key} ${value}`] : [];
    });
    return ['database error', codeOf(error), ...place].join(' ');
  }
  return error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 500) : 'unknown error';
}
