import { eventChangeRoutes } from '../../api/admin/platform/event-change-routes.ts';
import type { ChangeOf } from '../../application/content/entry-history.ts';
import { createRelay } from '../../application/platform/relay.ts';
import { topics } from '../../application/platform/topics.ts';
import type { EventFeed } from '../../application/ports/event-feed.ts';
import type { MessageBus } from '../../application/ports/message-bus.ts';
import { reasonOf } from '../../application/ports/transient-errors.ts';
import { startFollower } from '../../projections/engine/follower.ts';
import { createKafkaEventFeed } from '../message-bus/kafka-event-feed.ts';
import type { ContentModule } from './compose-content.ts';
import { createStoreEventFeed } from './fan-out/create-store-event-feed.ts';
import { openBus } from './fan-out/open-bus.ts';
import { withFeedTracing } from './fan-out/with-feed-tracing.ts';
import { EMPTY_MODULE, type Module, type Worker } from './module.ts';
import type { Platform } from './platform/platform.ts';

export type FanOutNeeds = Pick<ContentModule, 'changeOf'>;

export type FanOutModule = Module & {
  /** How workers receive events. */
  readonly feed: EventFeed;
};

/**
 * Fan-out of events: through Kafka when `KAFKA_BROKERS` is set, else each worker follows the event store with its own
 * checkpoint.
 */
export async function composeFanOut(platform: Platform, { changeOf }: FanOutNeeds): Promise<FanOutModule> {
  const { tracing, settings, logger, shutdown, eventStore } = platform;
  const bus = await openBus(platform);
  const routes = eventChangeRoutes({ eventStore, changeOf });
  if (!bus) return { ...EMPTY_MODULE, routes, feed: withFeedTracing(createStoreEventFeed(platform), { tracing }) };

  const prefix = settings.kafkaTopicPrefix;
  // Relay and consumers both need the topics; the first of them creates them and waits for the brokers until the
  // shutdown.
  const topicsReady = bus.ensureTopics(topics(prefix), shutdown.signal);
  topicsReady.catch((error: unknown) => {
    if (!shutdown.signal.aborted) logger.error('the topics could not be created', { reason: reasonOf(error) });
  });
  const feed = withFeedTracing(createKafkaEventFeed({ bus, prefix, eventStore }), { tracing });
  return {
    ...EMPTY_MODULE,
    routes,
    feed: {
      async start(options) {
        await topicsReady;
        return feed.start(options);
      },
    },
    workers: [relayWorker(platform, { bus, topicsReady, changeOf })],
    close: () => bus.close(),
  };
}

/** Publishes the log to the bus. A lease makes sure that one process does it. */
function relayWorker(
  { settings, eventStore, leases, database, logger, metrics, tracing }: Platform,
  {
    bus,
    topicsReady,
    changeOf,
  }: { readonly bus: MessageBus; readonly topicsReady: Promise<void>; readonly changeOf: ChangeOf },
): Worker {
  return {
    name: 'relay',
    role: 'relay',
    async start() {
      await topicsReady;
      const handle = createRelay({
        bus,
        prefix: settings.kafkaTopicPrefix,
        changeOf,
        maxCharacters: settings.relayBatchBytes / 2,
        logger,
        metrics,
        tracing,
      });
      return startFollower({
        name: 'relay',
        eventStore,
        leases,
        database,
        handler: { kind: 'steps', handle },
        maxBatchBytes: settings.relayBatchBytes,
        logger,
        metrics,
      });
    },
  };
}
