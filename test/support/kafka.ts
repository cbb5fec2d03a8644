import { type Admin, Kafka, logLevel } from 'kafkajs';
import { randomBytes } from 'node:crypto';
import type { Logger } from '../../application/ports/logger.ts';
import type { MessageBus } from '../../application/ports/message-bus.ts';
import { openKafkaBus } from '../../infrastructure/message-bus/kafka/kafka-bus.ts';
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
