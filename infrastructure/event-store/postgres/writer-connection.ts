import type pg from 'pg';
import { withDeadline } from '../../../application/concurrency/with-deadline.ts';
import { refusal } from '../../../domain/errors.ts';
import type { Database } from '../../postgres/database.ts';

const CONNECT_TIMEOUT_MS = 3_000;

const SETTINGS = `set statement_timeout = '10s'; set lock_timeout = '5s';
  set idle_in_transaction_session_timeout = '10s'; set jit = off; set enable_seqscan = off;
  set plan_cache_mode = force_generic_plan; set synchronous_commit = on`;

/** The single connection on which a process writes. */
export type WriterConnection = {
  /** The open connection; undefined before the first one and after a loss. */
  current(): pg.Client | undefined;
  /** Backend process id of the open connection. */
  backend(): number | undefined;
  /** Number of connections opened so far. */
  opened(): number;
  /** @throws `store_unavailable` after 3 seconds; the driver's error */
  open(): Promise<pg.Client>;
  /** Closes a connection that cannot be used any more. */
  drop(connection: pg.Client): void;
  close(): Promise<void>;
};

/** Opens nothing before `open` is called. */
export function createWriterConnection({
  database,
  onError,
}: {
  readonly database: Pick<Database, 'connect'>;
  readonly onError: (error: unknown) => void;
}): WriterConnection {
  let client: pg.Client | undefined;
  let backend: number | undefined;
  let opened = 0;

  function drop(connection: pg.Client): void {
    if (client === connection) {
      client = undefined;
      backend = undefined;
    }
    // Closes the socket immediately if a query is active.
    connection.end().catch(onError);
  }

  return {
    current: () => client,
    backend: () => backend,
    opened: () => opened,
    async open() {
      const connecting = database.connect();
      const connection = await withDeadline(connecting, CONNECT_TIMEOUT_MS, () => {
        connecting.then((late) => late.end()).catch(onError);
        throw refusal('store_unavailable', { message: 'no connection in time' });
      });
      connection.once('end', () => {
        drop(connection);
      });
      connection.once('error', () => {
        drop(connection);
      });
      await connection.query(SETTINGS);
      const { rows } = await connection.query<{ pid: number }>('select pg_backend_pid() as pid');
      opened += 1;
      backend = rows[0]?.pid;
      client = connection;
      return connection;
    },
    drop,
    async close() {
      await client?.end().catch(onError);
      client = undefined;
    },
  };
}
