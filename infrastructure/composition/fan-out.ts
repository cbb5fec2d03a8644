import { createRelay } from '../../application/platform/relay.ts';
import { traceBatch } from '../../application/platform/trace-batch.ts';
import { topics } from '../../application/platform/topics.ts';
import type { EventFeed } from '../../application/ports/event-feed.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { MessageBus } from '../../application/ports/message-bus.ts';
import type { Metrics } from '../../application/ports/metrics.ts';
import type { Tracing } from '../../application/ports/tracing.ts';
import { reasonOf } from '../../projections/engine/faults.ts';
import { startFollower } from '../../projections/engine/follower.ts';
import type { Settings } from '../configuration/settings/index.ts';
import { createDeadEvents } from '../message-bus/dead-events.ts';
import { followingEventFeed } from '../message-bus/following-event-feed.ts';
import { kafkaEventFeed } from '../message-bus/kafka-event-feed.ts';
import type { Stores } from './stores.ts';
import type { TodaysHistory } from './todays-history.ts';

export type FanOutOptions = {
  readonly stores: Stores;
  readonly settings: Settings;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing | undefined;
  /** The bus can't go on: the process ends with 1 and is started anew. */
  readonly onFatal: (error: Error) => void;
};

export type FanOut = {
  /** How workers get their events. */
  readonly feed: EventFeed;
  /** The bus, where there is one between processes. */
  readonly bus: MessageBus | undefined;
  /** Starts publishing the log to the bus (role `relay`); nothing to do without a bus. */
  startRelay(history: TodaysHistory): Promise<{ stop(): Promise<void> } | undefined>;
  /** Ends waits for a broker that does not answer. */
  giveUp(): void;
  close(): Promise<void>;
};

/** Events for others (spec 5, rule 10): through Kafka where brokers are named, else each worker follows the log with a checkpoint of its own. */
export async function openFanOut({ stores, settings, logger, metrics, tracing, onFatal }: FanOutOptions): Promise<FanOut> {
  const { kafkaBrokers, kafkaTopicPrefix: prefix } = settings;
  if (kafkaBrokers === undefined) {
    return { feed: tracedFeed(followingFeed({ stores, prefix, logger, metrics }), tracing), bus: undefined, startRelay: () => Promise.resolve(undefined), giveUp: () => undefined, close: () => Promise.resolve() };
  }
  const { openKafkaBus } = await import('../message-bus/kafka/kafka-bus.ts');
  const { kafkaSaslMechanism: mechanism, kafkaSaslUsername: username, kafkaSaslPassword: password } = settings;
  const bus = await openKafkaBus({
    brokers: kafkaBrokers,
    clientId: settings.kafkaClientId,
    ssl: settings.kafkaSsl,
    sasl: mechanism !== undefined && username !== undefined && password !== undefined ? { mechanism, username, password } : undefined,
    logger, metrics, onFatal,
  });
  const stopping = new AbortController();
  // Consumers need their topics as much as the relay does: whoever comes first makes them, and waits for the broker as long as it takes.
  const ready = bus.ensureTopics(topics(prefix), stopping.signal);
  ready.catch((error: unknown) => {
    if (!stopping.signal.aborted) logger.error('topics could not be made', { reason: String(error) });
  });
  const viaKafka = tracedFeed(kafkaEventFeed({ bus, prefix }), tracing);
  return {
    bus,
    feed: {
      async start(options) {
        await ready;
        return viaKafka.start(options);
      },
    },
    async startRelay(history) {
      await ready;
      const relayBatch = createRelay({ bus, prefix, changeOf: (event) => history.changeOf(event) });
      return startFollower({
        name: 'relay',
        source: stores.eventStore,
        leases: stores.leases,
        database: stores.database,
        handler: { kind: 'before', handle: (events, signal) => traceBatch(tracing, 'publish', events, 'producer', () => relayBatch(events, signal)) },
        logger, metrics,
      });
    },
    giveUp() {
      stopping.abort();
    },
    close: () => bus.close(),
  };
}

/** Without a bus between processes: a leased follower for each worker (rule 10). */
function followingFeed({ stores, prefix, logger, metrics }: { stores: Stores; prefix: string; logger: Logger; metrics: Metrics }): EventFeed {
  const { eventStore: source, leases, database } = stores;
  return followingEventFeed({
    follow: ({ name, categories, handle }) => startFollower({ name, source, filter: { categories }, leases, database, handler: { kind: 'before', handle }, logger, metrics }),
    deadEvents: createDeadEvents({ database }),
    prefix, reasonOf, logger, metrics,
  });
}

/** Workers' work on events as spans. */
function tracedFeed(feed: EventFeed, tracing: Tracing | undefined): EventFeed {
  if (!tracing) return feed;
  return { start: (options) => feed.start({ ...options, handle: (events) => traceBatch(tracing, `handle ${options.worker}`, events, 'consumer', () => options.handle(events)) }) };
}
