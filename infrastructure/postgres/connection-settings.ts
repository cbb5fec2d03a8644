import pg from 'pg';

const { types } = pg;
/** Positions, revisions and counts fit a double; other values are refused instead of rounded. */
types.setTypeParser(types.builtins.INT8, (text) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`integer out of range: ${text}`);
  return value;
});

/**
 * Both sides notice within a minute that the other one has vanished, for example behind a network that drops packets:
 * the server then ends the transaction.
 */
const KEEP_ALIVE_MS = 20_000;
const KEEP_ALIVE = `set tcp_keepalives_idle to 20; set tcp_keepalives_interval to 10; set tcp_keepalives_count to 3`;

/** How a connection is opened, and the statement that sets up its session. */
export function connectionSettings({
  url,
  applicationName = 'palimpsest',
  idleTransactionMs,
  lockTimeoutMs,
}: {
  readonly url: string;
  readonly applicationName: string | undefined;
  readonly idleTransactionMs: number;
  readonly lockTimeoutMs: number;
}): { readonly connection: pg.ClientConfig; readonly sessionSettings: string } {
  return {
    connection: {
      connectionString: url,
      application_name: applicationName,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    },
    sessionSettings: [
      KEEP_ALIVE,
      `set idle_in_transaction_session_timeout to ${String(idleTransactionMs)}`,
      `set lock_timeout to ${String(lockTimeoutMs)}`,
    ].join('; '),
  };
}
