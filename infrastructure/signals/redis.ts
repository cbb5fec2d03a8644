import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import type { Signals } from '../../application/ports/signals.ts';
import { openInProcessSignals } from './in-process.ts';

export type RedisSignalsOptions = {
  readonly url: string;
  /** Separates installations that share a server. Default `palimpsest`. */
  readonly prefix?: string;
  readonly onError?: (error: unknown) => void;
};

/**
 * Opens signals over Redis pub/sub. This process receives its own signals directly, so they work while Redis is
 * unreachable.
 */
export function openRedisSignals({
  url,
  prefix = 'palimpsest',
  onError,
}: RedisSignalsOptions): Signals & { readonly ready: Promise<void> } {
  const local = openInProcessSignals(onError ? { onError } : {});
  const processId = randomUUID();
  const topic = `${prefix}:signals`;
  const publisher = new Redis(url, {
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    connectionName: 'palimpsest-signals',
  });
  const subscriber = new Redis(url, {
    maxRetriesPerRequest: null,
    autoResubscribe: true,
    connectionName: 'palimpsest-signals',
  });
  for (const connection of [publisher, subscriber]) connection.on('error', (error: unknown) => onError?.(error));

  subscriber.on('message', (_topic: string, message: string) => {
    const [sender, channel, ...payload] = message.split('\n');
    if (sender !== processId && channel !== undefined) local.publish(channel, payload.join('\n'));
  });

  const connected = new Promise<void>((resolve) => {
    publisher.once('ready', () => {
      resolve();
    });
  });
  const subscribed = subscriber.subscribe(topic).then(() => undefined);
  const ready = Promise.all([connected, subscribed]).then(() => undefined);
  // Callers that do not wait for `ready` get the error through `onError`.
  ready.catch(() => undefined);

  return {
    ready,
    publish(channel, payload) {
      local.publish(channel, payload);
      publisher.publish(topic, `${processId}\n${channel}\n${payload}`).catch((error: unknown) => onError?.(error));
    },
    subscribe: (channel, handler) => local.subscribe(channel, handler),
    async close() {
      publisher.disconnect();
      subscriber.disconnect();
      await local.close();
    },
  };
}
