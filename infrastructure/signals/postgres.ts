import type { Signals } from '../../application/ports/signals.ts';
import type { Database } from '../postgres/database.ts';
import { openListener } from '../postgres/listen.ts';
import { createInProcessSignals } from './in-process.ts';

export type PostgresSignalsOptions = {
  readonly database: Pick<Database, 'connect'>;
  readonly onError?: (error: unknown) => void;
};

const CHANNEL = 'palimpsest_signals';
/** What waits for the connection to come back; older signals are lost, as signals may be. */
const MOST_WAITING = 1_000;

/**
 * Signals by LISTEN/NOTIFY on a connection of their own. What is published in one tick travels in one statement;
 * this process hears its own signals without the server.
 */
export function createPostgresSignals({ database, onError }: PostgresSignalsOptions): Signals & { readonly ready: Promise<void> } {
  const home = createInProcessSignals(onError ? { onError } : {});
  let waiting: { readonly channel: string; readonly payload: string }[] = [];
  let scheduled = false;
  let sending: Promise<void> = Promise.resolve();

  const listener = openListener({
    database,
    channels: [CHANNEL],
    onNotification({ payload, own }) {
      const cut = payload.indexOf('\n');
      if (!own && cut > 0) home.publish(payload.slice(0, cut), payload.slice(cut + 1));
    },
    onConnect: schedule,
    ...(onError ? { onError } : {}),
  });

  function schedule(): void {
    if (scheduled || waiting.length === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      sending = sending.then(send);
    });
  }

  async function send(): Promise<void> {
    const client = listener.client();
    if (!client || waiting.length === 0) return;
    const batch = waiting;
    waiting = [];
    try {
      await client.query({
        name: 'signals-notify',
        text: `select pg_notify('${CHANNEL}', payload) from unnest($1::text[]) as payload`,
        values: [batch.map(({ channel, payload }) => `${channel}\n${payload}`)],
      });
    } catch (error) {
      onError?.(error);
    }
  }

  return {
    ready: listener.ready,
    publish(channel, payload) {
      home.publish(channel, payload);
      if (waiting.length >= MOST_WAITING) waiting.shift();
      waiting.push({ channel, payload });
      schedule();
    },
    subscribe: (channel, handler) => home.subscribe(channel, handler),
    async close() {
      await sending.then(send);
      await listener.close();
      await home.close();
    },
  };
}
