import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

/** A value bound to a parameter. */
export type SqlValue = unknown;

/** Runs statements, parameters always bound. `name` makes it a prepared statement, cached per connection. */
export type Queryable = {
  query<Row extends object = Record<string, unknown>>(text: string, values?: readonly SqlValue[], name?: string): Promise<readonly Row[]>;
  /** Rows that the statement touched. */
  execute(text: string, values?: readonly SqlValue[], name?: string): Promise<number>;
};

/** Statements inside one transaction. */
export type Transaction = Queryable & { readonly inTransaction: true };

export type TransactionOptions = {
  /** False: the commit answers before it is on disk. For rows that are made again from the log. */
  readonly synchronousCommit?: boolean;
  /** The server ends the transaction when this process is silent in it for so long (frozen, paused), so that its locks do not outlive it. */
  readonly idleTimeoutMs?: number;
};

export type Database = Queryable & {
  /** Runs `work` in a transaction; rolls back when it throws. */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** A connection of one's own (LISTEN, the writer of the event store). The caller ends it. */
  connect(): Promise<pg.Client>;
  readonly pool: pg.Pool;
  /** Connection string. */
  readonly url: string;
  /** Waits for the statements under way, and until the server has let go of the pool's connections. */
  close(): Promise<void>;
};

export type DatabaseOptions = {
  readonly url: string;
  readonly maxConnections?: number;
  readonly minConnections?: number;
  readonly idleTimeoutMs?: number;
  readonly maxLifetimeSeconds?: number;
  /** Most milliseconds that opening a connection, or waiting for a free one, may take. Default: no bound. */
  readonly connectTimeoutMs?: number;
  /** Most milliseconds that a statement may take before its caller gives up. Default: no bound. */
  readonly statementTimeoutMs?: number;
  readonly applicationName?: string;
  /** Told of errors on idle connections (they are replaced). */
  readonly onError?: (error: Error) => void;
};

/** How long a server may take to let go of a connection. */
const GOODBYE_MS = 2_000;

const { types } = pg;
/** Positions, revisions and counts fit a double; a value that does not is refused rather than rounded. */
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
    ...(options.statementTimeoutMs === undefined ? {} : { statement_timeout: options.statementTimeoutMs, query_timeout: options.statementTimeoutMs + 1_000 }),
  };
  const pool = new pg.Pool(config);
  let closing = false;
  // The pool ends before its connections have said goodbye: losing one then is no news.
  const onError = (error: Error): void => {
    if (!closing) options.onError?.(error);
  };
  pool.on('error', onError);
  const open = new Set<Promise<void>>();
  pool.on('connect', (client) => {
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
      // A connection lost between two statements has no query to reject; unheard, its error would end the process.
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
      const client = new pg.Client({ connectionString: options.url, application_name: options.applicationName ?? 'palimpsest' });
      client.on('error', onError);
      await client.connect();
      return client;
    },
    async close() {
      closing = true;
      await pool.end();
      // The pool says goodbye without waiting: a server that stops right after would find connections to cut.
      const late = new AbortController();
      await Promise.race([Promise.all(open), pause(GOODBYE_MS, undefined, { signal: late.signal }).catch(() => undefined)]);
      late.abort();
    },
  };
}

/** One round trip: the settings travel with BEGIN. */
function beginStatement({ synchronousCommit, idleTimeoutMs }: TransactionOptions): string {
  const off = synchronousCommit === false ? '; set local synchronous_commit to off' : '';
  const idle = idleTimeoutMs === undefined ? '' : `; set local idle_in_transaction_session_timeout to ${String(Math.ceil(idleTimeoutMs))}`;
  return `begin${off}${idle}`;
}

function queryable(runner: Pick<pg.Pool, 'query'> | pg.ClientBase): Queryable {
  async function run(text: string, values: readonly SqlValue[] | undefined, name: string | undefined): Promise<pg.QueryResult> {
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
