import { expect } from 'chai';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import { randomBytes } from 'node:crypto';
import type { Logger } from '../../application/ports/logger.ts';
import type { MessageBus, ReceivedMessage } from '../../application/ports/message-bus.ts';
import { openKafkaBus } from '../../infrastructure/message-bus/kafka/kafka-bus.ts';
import { eventually } from './eventually.ts';
import { recordingLogger } from './recording-logger.ts';

export type TestKafkaOptions = {
  readonly brokers: string;
  readonly logger?: Logger;
  readonly onFatal?: (error: Error) => void;
  readonly sessionTimeoutMs?: number;
};

/** Opens a message bus on the test broker. */
export function openTestKafka({
  brokers,
  logger = recordingLogger(),
  onFatal = () => undefined,
  sessionTimeoutMs = 10_000,
}: TestKafkaOptions): Promise<MessageBus> {
  return openKafkaBus({ brokers: brokers.split(','), clientId: 'palimpsest-test', logger, onFatal, sessionTimeoutMs });
}

/** A unique name for a topic or consumer group, because several tests and runs share the broker. */
export function uniqueName(what: string): string {
  return `test.${what}.${randomBytes(5).toString('hex')}`;
}

/** Runs `work` with an admin client of the brokers (comma-separated `host:port`), and disconnects it. */
export async function withKafkaAdmin<T>(brokers: string, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

/** Deletes all topics of a prefix. */
export function deleteTopics(brokers: string, prefix: string): Promise<void> {
  return withKafkaAdmin(brokers, async (admin) => {
    await admin.deleteTopics({ topics: (await admin.listTopics()).filter((topic) => topic.startsWith(`${prefix}.`)) });
  });
}

/** Enough keys for each partition of a topic to get one. */
const MARKS = Array.from({ length: 60 }, (_, index) => `mark-${index}`);

/**
 * Reads all messages of the topics, in order per key. Reads until it has received marks that it publishes now, because
 * the end of a partition may hold markers of transactions, which no consumer receives.
 */
export async function everythingOn(
  topics: readonly string[],
  { bus }: { readonly bus: MessageBus },
): Promise<readonly ReceivedMessage[]> {
  const marks = topics.flatMap((topic) => MARKS.map((key) => ({ topic, key, value: '{}', headers: {} })));
  await bus.publish(marks);
  const received: ReceivedMessage[] = [];
  const isMark = ({ key }: ReceivedMessage): boolean => MARKS.includes(key);
  const reader = await bus.consume({
    topics,
    group: uniqueName('group'),
    handler: (message) => Promise.resolve(void received.push(message)),
  });
  await eventually(
    () => {
      expect(received.filter(isMark)).to.have.length(marks.length);
    },
    { timeoutMs: 20_000 },
  );
  await reader.stop();
  return received.filter((message) => !isMark(message));
}
