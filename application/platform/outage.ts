/** Codes of refusals that time alone may mend. */
const REFUSALS = new Set(['unavailable', 'store_unavailable', 'outcome_unknown']);
/** System errors of a connection. */
const CONNECTION = new Set(['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN']);
/** SQLSTATE: connection exceptions, too few resources, shutdown and start of the server, read-only during a fail-over. */
const SQLSTATE = /^(08...|53...|57P0[123]|25006)$/;
const LOST_CONNECTION = /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

/**
 * Whether an error says that something this process depends on is away, and not that the work at hand is wrong: worth waiting for,
 * without counting tries. Looks at causes as well.
 */
export function isOutage(error: unknown): boolean {
  for (let current: unknown = error, depth = 0; current instanceof Error && depth < 5; current = current.cause, depth += 1) {
    const code = 'code' in current && typeof current.code === 'string' ? current.code : '';
    if (REFUSALS.has(code) || CONNECTION.has(code) || SQLSTATE.test(code) || LOST_CONNECTION.test(current.message)) return true;
  }
  return false;
}
