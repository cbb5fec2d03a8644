import type { Admin, KafkaConfig, Producer, SASLOptions } from 'kafkajs';
import { stoppablePause } from '../../../application/concurrency/stoppable-pause.ts';
import { withDeadline } from '../../../application/concurrency/with-deadline.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { FencedPublisher, MessageBus, Subscription } from '../../../application/ports/message-bus.ts';
import type { Metrics } from '../../../application/ports/metrics.ts';
import { reasonOf } from '../../../application/ports/transient-errors.ts';
import { refusal } from '../../../domain/errors.ts';
import { startKafkaConsumer } from './kafka-consumer.ts';
import { toRefusal } from './kafka-errors.ts';
import { openKafkaFencedPublisher } from './kafka-fenced-publisher.ts';
import { kafkaLogCreator } from './kafka-logging.ts';
import { createKafkaPublisher } from './kafka-publisher.ts';
import { createMissingTopics } from './kafka-topics.ts';
import { once } from './once.ts';
import { readTopicLimits } from './topic-limits.ts';

export type KafkaSasl = {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  readonly username: string;
  readonly password: string;
};

export type KafkaBusOptions = {
  /** `host:port` of the brokers' client listeners. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly ssl?: boolean;
  readonly sasl?: KafkaSasl | undefined;
  readonly logger: Logger;
  /** Called when a consumer has ended permanently: the process should fail its readiness probe and exit with code 1. */
  readonly onFatal: (error: Error) => void;
  /** Receives the number of messages that each consumer group of this process is behind. */
  readonly metrics?: Pick<Metrics, 'queueDepth' | 'deadLettered'>;
  /**
   * Time without a heartbeat after which the partitions of a member are reassigned, in milliseconds. Default 10,000;
   * brokers accept 6,000 or more.
   */
  readonly sessionTimeoutMs?: number;
};

const PING_TIMEOUT_MS = 5_000;
const CLOSE_DEADLINE_MS = 10_000;

/**
 * Opens the message bus on Kafka 3.x and 4.x with kafkajs, which is loaded on the first call. Connects on first use.
 */
export async function openKafkaBus(options: KafkaBusOptions): Promise<MessageBus> {
  const { ConfigResourceTypes, Kafka, Partitioners, logLevel } = await import('kafkajs');
  const { logger, onFatal, metrics } = options;
  const config: KafkaConfig = {
    brokers: [...options.brokers],
    clientId: options.clientId,
    ssl: options.ssl ?? false,
    ...(options.sasl ? { sasl: saslOptions(options.sasl) } : {}),
    connectionTimeout: 3_000,
    requestTimeout: 30_000,
    // Callers wait until an outage ends; the client's own retries last about 6 seconds.
    retry: { initialRetryTime: 100, retries: 6, maxRetryTime: 5_000 },
    logLevel: logLevel.INFO,
    logCreator: kafkaLogCreator(logger, logLevel.WARN),
  };
  const kafka = new Kafka(config);
  const closing = new AbortController();
  const subscriptions = new Set<Subscription>();
  const starting = new Set<Promise<unknown>>();
  const publishers = new Set<FencedPublisher>();

  const producer = once(async (): Promise<Producer> => {
    const made = kafka.producer({
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
      // It publishes dead letters, for several consumers. Consumers drop repetitions by `ce_id`.
      idempotent: false,
      maxInFlightRequests: 1,
    });
    await made.connect();
    return made;
  });
  const admin = once(async (): Promise<Admin> => {
    const made = kafka.admin();
    await made.connect();
    return made;
  });
  const publisher = createKafkaPublisher({ connected: () => producer.get() });

  return {
    async ensureTopics(topics, signal) {
      const ending = AbortSignal.any([closing.signal, ...(signal ? [signal] : [])]);
      const pause = stoppablePause(ending);
      for (let delay = 200; ; delay = Math.min(delay * 2, 5_000)) {
        ending.throwIfAborted();
        try {
          await createMissingTopics(await admin.get(), topics);
          return;
        } catch (error) {
          logger.warn('the topics could not be created yet', { reason: reasonOf(error) });
          await pause(delay);
        }
      }
    },
    publish(messages) {
      if (closing.signal.aborted)
        return Promise.reject(refusal('unavailable', { message: 'the message bus is closed' }));
      return publisher.publish(messages);
    },
    async openPublisher({ name, topics }) {
      if (closing.signal.aborted) throw refusal('unavailable', { message: 'the message bus is closed' });
      const publisher = await openKafkaFencedPublisher({
        name,
        kafka,
        createPartitioner: Partitioners.DefaultPartitioner,
        limits: await limitsOf(topics),
      });
      publishers.add(publisher);
      return {
        ...publisher,
        async close() {
          publishers.delete(publisher);
          await publisher.close();
        },
      };
    },
    async consume(consumeOptions) {
      if (closing.signal.aborted) throw refusal('unavailable', { message: 'the message bus is closed' });
      const start = startKafkaConsumer(consumeOptions, {
        kafka,
        publish: publisher.publish,
        logger,
        onFatal,
        metrics,
        sessionTimeoutMs: options.sessionTimeoutMs ?? 10_000,
      });
      starting.add(start);
      try {
        const subscription = await start;
        subscriptions.add(subscription);
        return {
          async stop() {
            await subscription.stop();
            subscriptions.delete(subscription);
          },
        };
      } catch (error) {
        throw toRefusal(error);
      } finally {
        starting.delete(start);
      }
    },
    async ping() {
      try {
        await withDeadline(
          admin.get().then((connected) => connected.describeCluster()),
          PING_TIMEOUT_MS,
        );
      } catch (error) {
        throw toRefusal(error);
      }
    },
    async close() {
      closing.abort();
      // A consumer that is disconnected while it joins never ends: wait until it has joined.
      await Promise.allSettled(starting);
      await Promise.all([...subscriptions].map((subscription) => subscription.stop()));
      try {
        await withDeadline(Promise.all([closeProducer(), closePublishers(), closeAdmin()]), CLOSE_DEADLINE_MS);
      } catch (error) {
        logger.error('the connections to the broker did not close in time', { reason: reasonOf(error) });
      }
    },
  };

  /** Without the limits, a message that is too large is known only when the broker refuses it. */
  async function limitsOf(topics: readonly string[]): Promise<ReadonlyMap<string, number>> {
    try {
      return await readTopicLimits({ topics, type: ConfigResourceTypes.TOPIC }, { admin: await admin.get() });
    } catch (error) {
      logger.warn('the size limits of the topics are not known', { reason: reasonOf(error) });
      return new Map();
    }
  }

  async function closeProducer(): Promise<void> {
    // The client does not wait for sends that it is retrying.
    await publisher.drain();
    await (await producer.current())?.disconnect();
  }

  async function closePublishers(): Promise<void> {
    await Promise.all([...publishers].map((publisher) => publisher.close()));
  }

  async function closeAdmin(): Promise<void> {
    await (await admin.current())?.disconnect();
  }
}

function saslOptions({ mechanism, username, password }: KafkaSasl): SASLOptions {
  switch (mechanism) {
    case 'plain':
      return { mechanism, username, password };
    case 'scram-sha-256':
      return { mechanism, username, password };
    case 'scram-sha-512':
      return { mechanism, username, password };
  }
}
