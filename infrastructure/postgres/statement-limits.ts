import type pg from 'pg';
import { type StatementLimits, type WorkClass, currentWorkClass } from './work-class.ts';

export type TransactionOptions = {
  /** False: the commit returns before it is on disk. For rows that can be rebuilt from the log. */
  readonly synchronousCommit?: boolean;
  /**
   * The server aborts the transaction when this process sends nothing for this long (it is suspended), so that its
   * locks are released. Default: `idleTransactionMs` of the pool.
   */
  readonly idleTimeoutMs?: number;
  /** Decides the maximum time of the statements. Default: the class of the caller (`runAs`). */
  readonly workClass?: WorkClass;
};

/** The limits of a pool. */
export type PoolLimits = {
  /** Maximum time of a statement by class of work. Undefined: no limits. */
  readonly statementLimits: StatementLimits | undefined;
  /** Maximum time in milliseconds that a statement waits for a lock, except in unlimited work; 0: no limit. */
  readonly lockTimeoutMs: number;
};

/** The `statement_timeout` of each connection, when it is not 0. */
const limitOf = new WeakMap<pg.ClientBase, number>();

/** Sets the limit of the current class of work on a connection that has another one. Outside a transaction. */
export async function limitStatement(client: pg.ClientBase, limits: PoolLimits): Promise<void> {
  const limit = differentLimit(client, currentWorkClass(), limits);
  if (limit === undefined) return;
  await client.query(`set statement_timeout to ${String(limit)}`);
  limitOf.set(client, limit);
}

/** The statement that begins a transaction. One round trip: the settings are sent with BEGIN. */
export function beginStatement(
  client: pg.ClientBase,
  { synchronousCommit, idleTimeoutMs, workClass = currentWorkClass() }: TransactionOptions,
  limits: PoolLimits,
): string {
  const limit = differentLimit(client, workClass, limits);
  return [
    'begin',
    ...(synchronousCommit === false ? ['set local synchronous_commit to off'] : []),
    ...(idleTimeoutMs === undefined
      ? []
      : [`set local idle_in_transaction_session_timeout to ${String(Math.ceil(idleTimeoutMs))}`]),
    ...(limit === undefined ? [] : [`set local statement_timeout to ${String(limit)}`]),
    ...(workClass === 'unlimited' && limits.lockTimeoutMs > 0 ? ['set local lock_timeout to 0'] : []),
  ].join('; ');
}

/** The limit of the class of work in milliseconds; undefined when the connection already has it. */
function differentLimit(
  client: pg.ClientBase,
  workClass: WorkClass,
  { statementLimits }: PoolLimits,
): number | undefined {
  if (!statementLimits) return undefined;
  const limit = workClass === 'unlimited' ? 0 : statementLimits[workClass];
  return limit === (limitOf.get(client) ?? 0) ? undefined : limit;
}
