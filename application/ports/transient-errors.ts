import { codeOf } from '../../domain/code-of.ts';
import { isAppError } from '../../domain/errors.ts';

/** Codes of the error catalogue that an adapter returns while a dependency is unreachable. */
const REFUSALS = new Set(['unavailable', 'store_unavailable', 'outcome_unknown']);
/** System error codes of a failed or lost connection. */
const CONNECTION = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/**
 * Messages of the Postgres driver for a connection that failed, or did not answer in time, before or during a query.
 * They carry no code.
 */
const LOST_CONNECTION =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error)/;
/** As above, anywhere in a message, and the messages for a query on a connection that is already closed. */
const UNUSABLE_CONNECTION =
  /connection terminated|connection error|query read timeout|timeout exceeded when trying to connect|client was closed|not queryable/i;

/** What a SQLSTATE says about the server, as far as a later attempt may succeed. */
export type ServerCondition =
  'unreachable' | 'exhausted' | 'read_only' | 'cancelled' | 'contended' | 'state' | 'system';

/** The first match counts. */
const CONDITIONS: readonly (readonly [RegExp, ServerCondition])[] = [
  // Connection exceptions; shutdown, crash and start of the server.
  [/^(08...|57P0[123])$/, 'unreachable'],
  // Too few resources: connections, memory, disk.
  [/^53...$/, 'exhausted'],
  // A write on a standby, during a fail-over.
  [/^25006$/, 'read_only'],
  // Other interventions by an operator, such as a cancelled query.
  [/^57...$/, 'cancelled'],
  // Serialization failures and deadlocks, a lock that was not available, transactions that took too long.
  [/^(40...|55P03|25P0[34])$/, 'contended'],
  // Other states of the transaction or of an object in use.
  [/^(25|55)...$/, 'state'],
  // Errors of the server's operating system.
  [/^58...$/, 'system'],
];

const OUTAGE: ReadonlySet<ServerCondition | undefined> = new Set(['unreachable', 'exhausted', 'read_only']);
const TRANSIENT: ReadonlySet<ServerCondition | undefined> = new Set([
  'unreachable',
  'exhausted',
  'cancelled',
  'contended',
]);

/**
 * @returns the condition that a SQLSTATE reports; undefined when the statement itself is at fault, and for text that
 * is not a SQLSTATE
 */
export function serverCondition(code: string): ServerCondition | undefined {
  return CONDITIONS.find(([pattern]) => pattern.test(code))?.[1];
}

/**
 * Whether a dependency of this process (event store, database, message bus) is unreachable, overloaded or failing over,
 * so that the current work did not cause the error. Callers wait for the end of an outage without counting attempts.
 * Checks the causes of the error as well.
 */
export function isOutage(error: unknown): boolean {
  for (
    let current: unknown = error, depth = 0;
    current instanceof Error && depth < 5;
    current = current.cause, depth += 1
  ) {
    const code = codeOf(current) ?? '';
    if (REFUSALS.has(code) || CONNECTION.has(code) || OUTAGE.has(serverCondition(code))) return true;
    if (LOST_CONNECTION.test(current.message)) return true;
  }
  return false;
}

/**
 * Whether the same work may succeed on a later attempt: the connection failed, or the server was overloaded, cancelled
 * the statement or rolled it back because of others. Callers bound the number of attempts. Does not check the causes of
 * the error.
 */
export function isTransient(error: unknown): boolean {
  const code = codeOf(error) ?? '';
  if (REFUSALS.has(code) || CONNECTION.has(code) || TRANSIENT.has(serverCondition(code))) return true;
  return error instanceof Error && UNUSABLE_CONNECTION.test(error.message);
}

/** SQLSTATEs of a limit of the server's configuration: memory for locks, and other configured limits. */
const SERVER_LIMITS: readonly string[] = ['53200', '53400'];

/**
 * Whether the work needed more than the server is configured to give, such as more locks than
 * `max_locks_per_transaction` allows. A later attempt succeeds only if other sessions had used it up.
 */
export function isServerLimit(error: unknown): boolean {
  return SERVER_LIMITS.includes(codeOf(error) ?? '');
}

/**
 * Describes an error for operators. Omits the message of a database error, because it may contain values of the
 * statement.
 */
export function reasonOf(error: unknown): string {
  if (isAppError(error)) return `${error.code}: ${error.message}`;
  if (error instanceof Error && 'severity' in error) {
    const place = ['schema', 'table', 'column', 'constraint'].flatMap((key) => {
      const value: unknown = Reflect.get(error, key);
      return typeof value === 'string' ? [`${key} ${value}`] : [];
    });
    const hint = codeOf(error) === '53200' ? ['(out of memory, or of locks: see max_locks_per_transaction)'] : [];
    return ['database error', codeOf(error) ?? '', ...hint, ...place].join(' ');
  }
  return error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 500) : 'unknown error';
}
