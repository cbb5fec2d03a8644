import type { Logger } from '../../../application/ports/logger.ts';
import {
  type Message,
  type MessageBus,
  type Subscription,
  type TopicSpec,
  deadLetterTopic,
} from '../../../application/ports/message-bus.ts';
import { refusal } from '../../../domain/errors.ts';
import { type ConsumerGroup, createConsumerGroup } from './consumer-group.ts';
import { type PartitionLog, createPartitionLog } from './partition-log.ts';

export type InProcessBusOptions = {
  readonly logger: Logger;
  /**
   * Maximum number of messages per partition. When it is reached, a publisher waits for running consumers; messages
   * that only stopped groups have not read are dropped. Default 10,000.
   */
  readonly capacity?: number;
};

/**
 * Opens a message bus within one process, in memory, with topics, partitions, groups and dead letters as in Kafka. It
 * loses no message while the process runs. Work that must survive the process follows the event store with a checkpoint
 * (`application/ports/event-feed.ts`).
 */
export function openInProcessBus({ logger, capacity = 10_000 }: InProcessBusOptions): MessageBus {
  const topics = new Map<string, readonly PartitionLog[]>();
  const groups = new Map<string, ConsumerGroup>();
  const subscriptions = new Set<Subscription>();
  /** The last publisher that was opened under each name. */
  const publishers = new Map<string, symbol>();
  let closed = false;

  const publish = async (messages: readonly Message[]): Promise<void> => {
    if (closed) throw refusal('unavailable', { message: 'the message bus is closed' });
    const byPartition = new Map<PartitionLog, Message[]>();
    for (const message of messages) {
      const log = logOf(message);
      const list = byPartition.get(log);
      if (list) list.push(message);
      else byPartition.set(log, [message]);
    }
    await Promise.all([...byPartition].map(([log, list]) => log.append(list)));
  };

  return {
    ensureTopics(specs) {
      for (const spec of specs) {
        make(spec);
        make({ topic: deadLetterTopic(spec.topic), partitions: 1, compacted: false });
      }
      return Promise.resolve();
    },
    publish,
    openPublisher({ name }) {
      if (closed) return Promise.reject(refusal('unavailable', { message: 'the message bus is closed' }));
      const own = Symbol(name);
      publishers.set(name, own);
      return Promise.resolve({
        accepts: () => true,
        publish: (messages) =>
          publishers.get(name) === own
            ? publish(messages)
            : Promise.reject(refusal('lease_lost', { message: 'another process publishes under this name' })),
        close: () => Promise.resolve(),
      });
    },
    async consume(options) {
      if (closed) throw refusal('unavailable', { message: 'the message bus is closed' });
      const logs = options.topics.flatMap(partitionsOf);
      const group = groups.get(options.group) ?? createConsumerGroup({ publish, logger });
      groups.set(options.group, group);
      const subscription = group.join(options, logs);
      subscriptions.add(subscription);
      return Promise.resolve({
        async stop() {
          subscriptions.delete(subscription);
          await subscription.stop();
        },
      });
    },
    ping: () =>
      closed ? Promise.reject(refusal('unavailable', { message: 'the message bus is closed' })) : Promise.resolve(),
    async close() {
      await Promise.all([...subscriptions].map((subscription) => subscription.stop()));
      closed = true;
    },
  };

  function make({ topic, partitions }: TopicSpec): void {
    if (topics.has(topic)) return;
    const logs = Array.from({ length: partitions }, (_, partition) => {
      let warned = false;
      const log: PartitionLog = createPartitionLog({
        topic,
        partition,
        capacity,
        slowest() {
          const reading = [...groups.values()]
            .filter((group) => group.reads(topic))
            .map((group) => group.next(log) ?? 0);
          return reading.length === 0 ? undefined : Math.min(...reading);
        },
        needed: (offset) => [...groups.values()].some((group) => (group.next(log) ?? Infinity) <= offset),
        onOverflow() {
          if (!warned) logger.warn('messages that a stopped consumer had not read were dropped', { topic, partition });
          warned = true;
        },
      });
      return log;
    });
    topics.set(topic, logs);
  }

  function partitionsOf(topic: string): readonly PartitionLog[] {
    const logs = topics.get(topic);
    if (!logs) throw refusal('unavailable', { message: `there is no topic ${topic}` });
    return logs;
  }

  function logOf({ topic, key }: Message): PartitionLog {
    const logs = partitionsOf(topic);
    const log = logs[hash(key) % logs.length];
    if (!log) throw new RangeError(`topic ${topic} has no partitions`);
    return log;
  }
}

/** FNV-1a over UTF-16 code units: distributes keys over partitions; equal keys get the same partition. */
function hash(key: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < key.length; index += 1) value = Math.imul(value ^ key.charCodeAt(index), 0x01000193);
  return value >>> 0;
}
