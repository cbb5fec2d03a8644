import type { Consumer, EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs';
import { stoppablePause } from '../../../application/concurrency/stoppable-pause.ts';
import { withDeadline } from '../../../application/concurrency/with-deadline.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type {
  ConsumeOptions,
  MessageBus,
  ReceivedMessage,
  Subscription,
} from '../../../application/ports/message-bus.ts';
import type { Metrics } from '../../../application/ports/metrics.ts';
import { reasonOf } from '../../../application/ports/transient-errors.ts';
import { deliver } from '../delivery.ts';
import { startHeartbeats } from './heartbeats.ts';

/** More than three heartbeats fit into the shortest session that brokers accept. */
const HEARTBEAT_INTERVAL_MS = 1_500;
const DISCONNECT_DEADLINE_MS = 10_000;
/**
 * Messages and milliseconds between commits within a batch. About this many messages per partition are delivered again
 * after a crash. The end of a batch commits as well.
 */
const COMMIT_EVERY = 100;
const COMMIT_INTERVAL_MS = 1_000;
/** Partitions processed concurrently, so that a message that is retried delays only its own partition. */
const PARTITIONS_AT_ONCE = 4;

export type KafkaConsumerDependencies = {
  readonly kafka: Kafka;
  readonly publish: MessageBus['publish'];
  readonly logger: Logger;
  /** Called when the consumer has ended permanently and this process no longer serves its group. */
  readonly onFatal: (error: Error) => void;
  readonly metrics?: Pick<Metrics, 'queueDepth' | 'deadLettered'> | undefined;
  readonly sessionTimeoutMs: number;
};

/** Joins a consumer group. Resolves once it is a member; rejects when the client gives up first. */
export async function startKafkaConsumer(
  options: ConsumeOptions,
  dependencies: KafkaConsumerDependencies,
): Promise<Subscription> {
  const { kafka, onFatal } = dependencies;
  const logger = dependencies.logger.child({ group: options.group });
  const stopping = new AbortController();
  const consumer = kafka.consumer({
    groupId: options.group,
    sessionTimeout: dependencies.sessionTimeoutMs,
    heartbeatInterval: HEARTBEAT_INTERVAL_MS,
    rebalanceTimeout: 60_000,
    // The broker answers as soon as there is one byte; this time only limits how long stopping waits for an idle fetch.
    minBytes: 1,
    maxWaitTimeInMs: 250,
    maxBytesPerPartition: 1_048_576,
    allowAutoTopicCreation: false,
    retry: {
      initialRetryTime: 300,
      retries: 8,
      maxRetryTime: 2_000,
      restartOnFailure: () => Promise.resolve(!stopping.signal.aborted),
    },
  });
  const joined = membership(consumer);
  joined.catch(() => undefined);
  let started = false;
  consumer.on(consumer.events.CRASH, ({ payload: { error, restart } }) => {
    if (stopping.signal.aborted) return;
    logger.error('the consumer crashed', { restart, reason: reasonOf(error) });
    if (!restart && started) onFatal(error);
  });
  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [...options.topics], fromBeginning: true });
    await consumer.run({
      eachBatchAutoResolve: false,
      autoCommitInterval: COMMIT_INTERVAL_MS,
      autoCommitThreshold: COMMIT_EVERY,
      partitionsConsumedConcurrently: PARTITIONS_AT_ONCE,
      eachBatch: batchHandler(options, { ...dependencies, logger, stopping: stopping.signal }),
    });
    await joined;
  } catch (error) {
    stopping.abort();
    await withDeadline(consumer.disconnect(), DISCONNECT_DEADLINE_MS).catch(() => undefined);
    throw error;
  }
  started = true;
  let stopped: Promise<void> | undefined;
  return {
    stop: () => (stopped ??= stop()),
  };

  async function stop(): Promise<void> {
    stopping.abort();
    try {
      // Stops fetching, waits for the handler, commits and leaves the group.
      await withDeadline(consumer.disconnect(), DISCONNECT_DEADLINE_MS);
    } catch (error) {
      logger.error('the consumer did not stop in time', { reason: reasonOf(error) });
    }
  }
}

/** Resolves when the consumer first joins its group; rejects when the client gives up. */
async function membership(consumer: Consumer): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    consumer.on(consumer.events.GROUP_JOIN, () => {
      resolve();
    });
    consumer.on(consumer.events.CRASH, ({ payload: { error, restart } }) => {
      if (!restart) reject(error);
    });
  });
}

type BatchDependencies = KafkaConsumerDependencies & { readonly stopping: AbortSignal };

function batchHandler(options: ConsumeOptions, { publish, logger, metrics, stopping }: BatchDependencies) {
  const pause = stoppablePause(stopping);
  const behind = new Map<string, number>();
  return async (fetched: EachBatchPayload): Promise<void> => {
    const { batch } = fetched;
    // Heartbeats keep the membership during a long handler; an error of a heartbeat (such as a rebalance) is handled
    // after the current message.
    const heartbeats = startHeartbeats(() => fetched.heartbeat(), HEARTBEAT_INTERVAL_MS);
    const delivery = {
      ...options,
      publish,
      logger,
      metrics,
      // Another member may own the partition by now, so a retry here has no use.
      pause: async (milliseconds: number) => heartbeats.failure() === undefined && (await pause(milliseconds)),
    };
    let nextCommit = performance.now() + COMMIT_INTERVAL_MS;
    try {
      for (const [index, message] of batch.messages.entries()) {
        if (!fetched.isRunning() || fetched.isStale() || stopping.aborted) return;
        const done = await deliver(received(batch.topic, batch.partition, message), delivery);
        if (done) fetched.resolveOffset(message.offset);
        const failure = heartbeats.failure();
        if (failure) throw failure;
        if (!done) return;
        if (index % COMMIT_EVERY !== COMMIT_EVERY - 1 && performance.now() < nextCommit) continue;
        nextCommit = performance.now() + COMMIT_INTERVAL_MS;
        // Handlers that never wait would otherwise keep the timers from running.
        await fetched.heartbeat();
        await fetched.commitOffsetsIfNecessary();
      }
    } finally {
      heartbeats.end();
    }
    if (metrics) {
      behind.set(`${batch.topic}/${batch.partition}`, Number(batch.offsetLag()));
      metrics.queueDepth(
        options.group,
        [...behind.values()].reduce((sum, lag) => sum + lag, 0),
      );
    }
  };
}

function received(topic: string, partition: number, message: KafkaMessage): Omit<ReceivedMessage, 'attempt'> {
  return {
    topic,
    partition,
    offset: message.offset,
    key: message.key?.toString('utf8') ?? '',
    value: message.value?.toString('utf8') ?? null,
    headers: Object.fromEntries(
      Object.entries(message.headers ?? {}).map(([name, value]) => [
        name,
        (Array.isArray(value) ? value[0] : value)?.toString('utf8') ?? '',
      ]),
    ),
  };
}
