import type pg from 'pg';
import { stoppablePause } from '../../application/concurrency/stoppable-pause.ts';
import type { Database } from './database.ts';
import { quoteIdentifier } from './quote.ts';

export type Notification = {
  readonly channel: string;
  readonly payload: string;
  /** Whether this listener's own connection sent it. */
  readonly own: boolean;
};

export type ListenerOptions = {
  readonly database: Pick<Database, 'connect'>;
  readonly channels: readonly string[];
  readonly onNotification: (notification: Notification) => void;
  /**
   * Called after every connection and reconnection. Notifications sent in between are lost, so the callee must check
   * for changes.
   */
  readonly onConnect?: () => void;
  readonly onError?: (error: unknown) => void;
  /** Pause before a reconnection in milliseconds, doubled each time up to 5 s. Default 100. */
  readonly retryDelayMs?: number;
};

/** A dedicated connection that listens to channels and reconnects when it is lost. */
export type Listener = {
  /** Resolves when it listens for the first time. */
  readonly ready: Promise<void>;
  /** The connection, for NOTIFY; undefined while disconnected. */
  client(): pg.Client | undefined;
  close(): Promise<void>;
};

/** Starts to listen. LISTEN is only a wake-up: notifications are lost while it reconnects. */
export function openListener({
  database,
  channels,
  onNotification,
  onConnect,
  onError,
  retryDelayMs = 100,
}: ListenerOptions): Listener {
  const closing = new AbortController();
  const pause = stoppablePause(closing.signal);
  let current: pg.Client | undefined;
  let started: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    started = resolve;
  });

  async function listenOnce(): Promise<void> {
    const client = await database.connect();
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    client.once('end', end);
    client.once('error', end);
    closing.signal.addEventListener('abort', end);
    // Closed while connecting: the abort event has already fired.
    if (closing.signal.aborted) end();
    try {
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      const pid = rows[0]?.pid;
      client.on('notification', ({ channel, payload, processId }) => {
        onNotification({ channel, payload: payload ?? '', own: processId === pid });
      });
      await client.query(channels.map((channel) => `listen ${quoteIdentifier(channel)}`).join(';'));
      // NOTIFY commits a transaction without data, so it does not need to wait for the disk.
      await client.query('set synchronous_commit to off');
      current = client;
      started();
      onConnect?.();
      await ended;
    } finally {
      current = undefined;
      closing.signal.removeEventListener('abort', end);
      await client.end().catch(() => undefined);
    }
  }

  const closed = (): boolean => closing.signal.aborted;

  async function run(): Promise<void> {
    for (let failures = 0; !closed(); failures += 1) {
      const since = performance.now();
      try {
        await listenOnce();
      } catch (error) {
        onError?.(error);
      }
      if (performance.now() - since > 5_000) failures = 0;
      await pause(Math.min(retryDelayMs * 2 ** failures, 5_000));
    }
  }

  const running = run();
  return {
    ready,
    client: () => current,
    async close() {
      closing.abort();
      await running;
    },
  };
}
