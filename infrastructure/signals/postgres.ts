import type { Signals } from '../../application/ports/signals.ts';
import type { Database } from '../postgres/database.ts';
import { openListener } from '../postgres/listen.ts';
import { openInProcessSignals } from './in-process.ts';

export type PostgresSignalsOptions = {
  readonly database: Pick<Database, 'connect'>;
  readonly onError?: (error: unknown) => void;
};

const CHANNEL = 'palimpsest_signals';
/** Maximum number of signals that wait for a reconnection; older ones are dropped, because signals may be lost. */
const MAX_WAITING = 1_000;

/**
 * Opens signals over LISTEN/NOTIFY on a dedicated connection. Signals published in one tick are sent in one
 * statement. This process receives its own signals directly.
 */
export function openPostgresSignals({
  database,
  onError,
}: PostgresSignalsOptions): Signals & { readonly ready: Promise<void> } {
  const local = openInProcessSignals(onError ? { onError } : {});
  let waiting: { readonly channel: string; readonly payload: string }[] = [];
  let scheduled = false;
  let sending: Promise<void> = Promise.resolve();

  const listener = openListener({
    database,
    channels: [CHANNEL],
    onNotification({ payload, own }) {
      const cut = payload.indexOf('\n');
      if (!own && cut > 0) local.publish(payload.slice(0, cut), payload.slice(cut + 1));
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
      local.publish(channel, payload);
      if (waiting.length >= MAX_WAITING) waiting.shift();
      waiting.push({ channel, payload });
      schedule();
    },
    subscribe: (channel, handler) => local.subscribe(channel, handler),
    async close() {
      await sending.then(send);
      await listener.close();
      await local.close();
    },
  };
}
