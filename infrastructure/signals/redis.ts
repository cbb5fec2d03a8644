import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import type { Signals } from '../../application/ports/signals.ts';
import { createInProcessSignals } from './in-process.ts';

export type RedisSignalsOptions = {
  readonly url: string;
  /** Keeps installs on one server apart. Default `palimpsest`. */
  readonly prefix?: string;
  readonly onError?: (error: unknown) => void;
};

/** Signals by Redis pub/sub. This process hears its own signals without the server, so they work while it is away. */
export function createRedisSignals({ url, prefix = 'palimpsest', onError }: RedisSignalsOptions): Signals & { readonly ready: Promise<void> } {
  const home = createInProcessSignals(onError ? { onError } : {});
  const me = randomUUID();
  const topic = `${prefix}:signals`;
  const publisher = new Redis(url, { maxRetriesPerRequest: 1, enableOfflineQueue: false, connectionName: 'palimpsest-signals' });
  const subscriber = new Redis(url, { maxRetriesPerRequest: null, autoResubscribe: true, connectionName: 'palimpsest-signals' });
  for (const connection of [publisher, subscriber]) connection.on('error', (error: unknown) => onError?.(error));

  subscriber.on('message', (_topic: string, message: string) => {
    const [sender, channel, ...payload] = message.split('\n');
    if (sender !== me && channel !== undefined) home.publish(channel, payload.join('\n'));
  });

  const connected = new Promise<void>((resolve) => {
    publisher.once('ready', () => {
      resolve();
    });
  });
  const subscribed = subscriber.subscribe(topic).then(() => undefined);
  const ready = Promise.all([connected, subscribed]).then(() => undefined);
  // Whoever does not wait for it has been told through onError.
  ready.catch(() => undefined);

  return {
    ready,
    publish(channel, payload) {
      home.publish(channel, payload);
      publisher.publish(topic, `${me}\n${channel}\n${payload}`).catch((error: unknown) => onError?.(error));
    },
    subscribe: (channel, handler) => home.subscribe(channel, handler),
    async close() {
      publisher.disconnect();
      subscriber.disconnect();
      await home.close();
    },
  };
}
