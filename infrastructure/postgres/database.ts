import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

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

export type TransactionOptions = {
  /** False: the commit returns before it is on disk. For rows that can be rebuilt from the log. */
  readonly synchronousCommit?: boolean;
  /**
   * The server aborts the transaction when this process sends nothing for this long (frozen, paused), so that its locks
   * are released.
   */
  readonly idleTimeoutMs?: number;
};

export type Database = Queryable & {
  /** Runs `work` in a transaction; rolls back when it throws. */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
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
  readonly maxConnections?: number;
  readonly minConnections?: number;
  readonly idleTimeoutMs?: number;
  readonly maxLifetimeSeconds?: number;
  /** Maximum time in milliseconds to open a connection or to wait for a free one. Default: no limit. */
  readonly connectTimeoutMs?: number;
  /** Maximum time in milliseconds of a statement. Default: no limit. */
  readonly statementTimeoutMs?: number;
  readonly applicationName?: string;
  /** Called with errors on idle connections, which are replaced. */
  readonly onError?: (error: Error) => void;
};

/** Time that the server may take to close a connection, in milliseconds. */
const CLOSE_TIMEOUT_MS = 2_000;

const { types } = pg;
/** Positions, revisions and counts fit a double; other values are refused instead of rounded. */
types.setTypeParser(types.builtins.INT8, (text) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`integer out of range: ${text}`);
  return value;
});

/** Opens a pool on a PostgreSQL database. */
export function openDatabase(options: DatabaseOptions): Database {
  const config: pg.PoolConfig = {
    connectionString: options.url,
    max: options.maxConnections ?? 25,
    min: options.minConnections ?? 0,
    idleTimeoutMillis: options.idleTimeoutMs ?? 30_000,
    application_name: options.applicationName ?? 'palimpsest',
    ...(options.maxLifetimeSeconds === undefined ? {} : { maxLifetimeSeconds: options.maxLifetimeSeconds }),
    ...(options.connectTimeoutMs === undefined ? {} : { connectionTimeoutMillis: options.connectTimeoutMs }),
    ...(options.statementTimeoutMs === undefined
      ? {}
      : { statement_timeout: options.statementTimeoutMs, query_timeout: options.statementTimeoutMs + 1_000 }),
  };
  const pool = new pg.Pool(config);
  let closing = false;
  // The pool ends before its connections are closed; losing a connection then is expected.
  const onError = (error: Error): void => {
    if (!closing) options.onError?.(error);
  };
  pool.on('error', onError);
  const open = new Set<Promise<void>>();
  pool.on('connect', (client) => {
    // The pool listens to idle connections only. A new connection can be terminated by the server while it is handed
    // out; its query fails then, and without a listener the error would end the process.
    client.on('error', ignore);
    const ended = new Promise<void>((resolve) => {
      client.once('end', resolve);
    });
    open.add(ended);
    void ended.then(() => open.delete(ended));
  });
  const direct = queryable(pool);
  return {
    ...direct,
    pool,
    url: options.url,
    async transaction(work, transactionOptions = {}) {
      const client = await pool.connect();
      let broken: Error | undefined;
      // A connection lost between two statements has no query to reject.
      const onLoss = (error: Error): void => {
        broken = error;
      };
      client.on('error', onLoss);
      try {
        await client.query(beginStatement(transactionOptions));
        const result = await work({ ...queryable(client), inTransaction: true });
        await client.query('commit');
        return result;
      } catch (error) {
        await client.query('rollback').catch((rollbackError: unknown) => {
          broken = rollbackError instanceof Error ? rollbackError : new Error(String(rollbackError));
        });
        throw error;
      } finally {
        client.off('error', onLoss);
        client.release(broken);
      }
    },
    async connect() {
      const client = new pg.Client({
        connectionString: options.url,
        application_name: options.applicationName ?? 'palimpsest',
      });
      client.on('error', onError);
      await client.connect();
      return client;
    },
    async close() {
      closing = true;
      await pool.end();
      // The pool does not wait until its connections are closed: a server that stops immediately afterwards would have
      // to terminate them.
      const late = new AbortController();
      await Promise.race([
        Promise.all(open),
        pause(CLOSE_TIMEOUT_MS, undefined, { signal: late.signal }).catch(() => undefined),
      ]);
      late.abort();
    },
  };
}

/** The statement that runs next on the connection fails and reports the loss. */
function ignore(): void {}

/** One round trip: the settings are sent with BEGIN. */
function beginStatement({ synchronousCommit, idleTimeoutMs }: TransactionOptions): string {
  const off = synchronousCommit === false ? '; set local synchronous_commit to off' : '';
  const idle =
    idleTimeoutMs === undefined
      ? ''
      : `; set local idle_in_transaction_session_timeout to ${String(Math.ceil(idleTimeoutMs))}`;
  return `begin${off}${idle}`;
}

function queryable(runner: Pick<pg.Pool, 'query'> | pg.ClientBase): Queryable {
  async function run(
    text: string,
    values: readonly SqlValue[] | undefined,
    name: string | undefined,
  ): Promise<pg.QueryResult> {
    const config: pg.QueryConfig = { text };
    if (values !== undefined) config.values = [...values];
    if (name !== undefined) config.name = name;
    return runner.query(config);
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
