import pg from 'pg';
import { withDeadline } from '../../application/concurrency/with-deadline.ts';
import { type CheckedOutClient, createCheckout, lossOf } from './checkout.ts';
import { connectionSettings } from './connection-settings.ts';
import { type Runner, startHeartbeats } from './heartbeats.ts';
import { type TransactionOptions, beginStatement, limitStatement } from './statement-limits.ts';
import type { StatementLimits } from './work-class.ts';

/** A value bound to a parameter. */
export type SqlValue = unknown;

/** Runs statements with bound parameters. `name` makes it a prepared statement, cached per connection. */
export type Queryable = {
  query<Row extends object = Record<string, unknown>>(
    text: string,
    values?: readonly SqlValue[],
    name?: string,
  ): Promise<readonly Row[]>;
  /** @returns the number of rows that the statement changed */
  execute(text: string, values?: readonly SqlValue[], name?: string): Promise<number>;
};

/** Statements inside one transaction. */
export type Transaction = Queryable & { readonly inTransaction: true };

export type Database = Queryable & {
  /**
   * Runs `work` in a transaction; rolls back when it throws. `work` uses no other connection of the pool: with all
   * connections in such transactions, each would wait for the others. See `outerTransaction`.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Like `transaction`, for work that also uses other connections of the pool: this connection comes from a small pool
   * of its own. While the work does something else, the transaction sends heartbeats, so that the server aborts it only
   * when this process is suspended. An outer transaction starts no other one.
   */
  outerTransaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Opens a dedicated connection (LISTEN, the writer of the event store). The caller closes it. */
  connect(): Promise<pg.Client>;
  readonly pool: pg.Pool;
  /** Connection string. */
  readonly url: string;
  /** Waits for running statements and until the server has closed the pool's connections. */
  close(): Promise<void>;
};

export type DatabaseOptions = {
  readonly url: string;
  /** Default 25. Requests of one tenant use at most four fifths of them at the same time (`useShareOf`). */
  readonly maxConnections?: number;
  readonly minConnections?: number;
  readonly idleTimeoutMs?: number;
  readonly maxLifetimeSeconds?: number;
  /** Maximum time in milliseconds to open a connection or to wait for a free one. Default: no limit. */
  readonly connectTimeoutMs?: number;
  /** Maximum time in milliseconds of every statement, also checked by this process. Instead of `statementLimits`. */
  readonly statementTimeoutMs?: number;
  /** Maximum time of a statement by class of work. Default: no limits. */
  readonly statementLimits?: StatementLimits;
  /** Maximum time in milliseconds that a statement waits for a lock, except in unlimited work. Default: no limit. */
  readonly lockTimeoutMs?: number;
  /**
   * The server aborts a transaction of a process that sends nothing for this long, in milliseconds. Default: 5,000.
   */
  readonly idleTransactionMs?: number;
  readonly applicationName?: string;
  /** Called with errors on idle connections, which are replaced. */
  readonly onError?: (error: Error) => void;
};

/** Time that the server may take to close a connection, in milliseconds. */
const CLOSE_TIMEOUT_MS = 2_000;
/** Maximum number of outer transactions of a process at the same time. */
const OUTER_CONNECTIONS = 8;

/** Opens a pool on a PostgreSQL database. */
export function openDatabase(options: DatabaseOptions): Database {
  const { lockTimeoutMs = 0, idleTransactionMs = 5_000, connectTimeoutMs } = options;
  const limits = { statementLimits: options.statementLimits, lockTimeoutMs };
  const { connection, sessionSettings } = connectionSettings({
    url: options.url,
    applicationName: options.applicationName,
    idleTransactionMs,
    lockTimeoutMs,
  });
  /** The pool waits for the result. Its time limit of a new connection does not include it. */
  const prepare = (client: pg.ClientBase): unknown => {
    // The pool listens to idle connections only. A new connection can be terminated by the server while it is handed
    // out; its query fails then, and without a listener the error would end the process.
    client.on('error', ignore);
    return client.query({ text: sessionSettings, ...(connectTimeoutMs && { query_timeout: connectTimeoutMs }) });
  };
  const config = {
    ...connection,
    max: options.maxConnections ?? 25,
    min: options.minConnections ?? 0,
    idleTimeoutMillis: options.idleTimeoutMs ?? 30_000,
    ...(options.maxLifetimeSeconds === undefined ? {} : { maxLifetimeSeconds: options.maxLifetimeSeconds }),
    ...(connectTimeoutMs === undefined ? {} : { connectionTimeoutMillis: connectTimeoutMs }),
    ...(options.statementTimeoutMs === undefined
      ? {}
      : { statement_timeout: options.statementTimeoutMs, query_timeout: options.statementTimeoutMs + 1_000 }),
    onConnect: prepare,
  };
  let closing = false;
  // The pool ends before its connections are closed; losing a connection then is expected.
  const onError = (error: Error): void => {
    if (!closing) options.onError?.(error);
  };
  const open = new Set<Promise<void>>();
  function openPool(poolConfig: pg.PoolConfig & { readonly max: number }): pg.Pool {
    const opened = new pg.Pool(poolConfig);
    opened.on('error', onError);
    opened.on('connect', (client) => {
      const ended = new Promise<void>((resolve) => {
        client.once('end', resolve);
      });
      open.add(ended);
      void ended.then(() => open.delete(ended));
    });
    return opened;
  }
  const pool = openPool(config);
  const outerPool = openPool({ ...config, max: OUTER_CONNECTIONS, min: 0 });
  const checkOut = createCheckout(pool, config);
  const checkOutOuter = createCheckout(outerPool, { ...config, max: OUTER_CONNECTIONS });

  /** A statement outside a transaction. It sets the limit first when the connection has another one. */
  const direct: Runner = async (query) => {
    const { client, release } = await checkOut();
    let broken: Error | undefined;
    try {
      await limitStatement(client, limits);
      return await client.query(query);
    } catch (error) {
      broken = lossOf(error);
      throw error;
    } finally {
      release(broken);
    }
  };

  async function runTransaction<T>(
    { client, release }: CheckedOutClient,
    work: (tx: Transaction) => Promise<T>,
    transactionOptions: TransactionOptions,
    runner: Runner,
  ): Promise<T> {
    let broken: Error | undefined;
    // A connection lost between two statements has no query to reject.
    const onLoss = (error: Error): void => {
      broken = error;
    };
    client.on('error', onLoss);
    try {
      await runner({ text: beginStatement(client, transactionOptions, limits) });
      const result = await work({ ...queryable(runner), inTransaction: true });
      await runner({ text: 'commit' });
      return result;
    } catch (error) {
      await runner({ text: 'rollback' }).catch((rollbackError: unknown) => {
        broken = rollbackError instanceof Error ? rollbackError : new Error(String(rollbackError));
      });
      throw error;
    } finally {
      client.off('error', onLoss);
      release(broken);
    }
  }

  return {
    ...queryable(direct),
    pool,
    url: options.url,
    async transaction(work, transactionOptions = {}) {
      const checkedOut = await checkOut();
      return runTransaction(checkedOut, work, transactionOptions, (query) => checkedOut.client.query(query));
    },
    async outerTransaction(work, transactionOptions = {}) {
      const checkedOut = await checkOutOuter();
      const { runner, stop } = startHeartbeats(
        checkedOut.client,
        transactionOptions.idleTimeoutMs ?? idleTransactionMs,
      );
      try {
        return await runTransaction(checkedOut, work, transactionOptions, runner);
      } finally {
        stop();
      }
    },
    async connect() {
      const client = new pg.Client(connection);
      client.on('error', onError);
      await client.connect();
      await client.query(sessionSettings);
      return client;
    },
    async close() {
      closing = true;
      await Promise.all([pool.end(), outerPool.end()]);
      // The pool does not wait until its connections are closed: a server that stops immediately afterwards would have
      // to terminate them.
      await withDeadline(Promise.all(open), CLOSE_TIMEOUT_MS, () => undefined);
    },
  };
}

/** The statement that runs next on the connection fails and reports the loss. */
function ignore(): void {}

function queryable(runner: Runner): Queryable {
  async function run(
    text: string,
    values: readonly SqlValue[] | undefined,
    name: string | undefined,
  ): Promise<pg.QueryResult> {
    const config: pg.QueryConfig = { text };
    if (values !== undefined) config.values = [...values];
    if (name !== undefined) config.name = name;
    return runner(config);
  }
  return {
    async query<Row extends object>(text: string, values?: readonly SqlValue[], name?: string) {
      return (await run(text, values, name)).rows as Row[];
    },
    async execute(text, values, name) {
      return (await run(text, values, name)).rowCount ?? 0;
    },
  };
}
