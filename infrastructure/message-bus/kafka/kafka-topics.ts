import type { Admin } from 'kafkajs';
import { type TopicSpec, deadLetterTopic } from '../../../application/ports/message-bus.ts';
import { DAY_MS } from '../../../domain/durations.ts';

/** A content change contains an entry twice, and a request body may have 10 MB. */
const MAX_MESSAGE_BYTES = 32 * 1_048_576;
const DEAD_LETTER_RETENTION_MS = 30 * DAY_MS;

/**
 * Creates missing topics, each with its dead-letter topic. Partitions and settings of existing topics are not changed.
 */
export async function createMissingTopics(admin: Admin, specs: readonly TopicSpec[]): Promise<void> {
  const existing = new Set(await admin.listTopics());
  const topics = specs.flatMap(({ topic, partitions, compacted }) => [
    {
      topic,
      numPartitions: partitions,
      configEntries: settings({ 'cleanup.policy': compacted ? 'compact' : 'delete' }),
    },
    {
      topic: deadLetterTopic(topic),
      numPartitions: 1,
      configEntries: settings({ 'retention.ms': String(DEAD_LETTER_RETENTION_MS) }),
    },
  ]);
  const missing = topics.filter(({ topic }) => !existing.has(topic));
  // Another process may create topics concurrently: an existing topic is no error.
  if (missing.length > 0) await admin.createTopics({ topics: missing, waitForLeaders: true, timeout: 30_000 });
}

function settings(own: Readonly<Record<string, string>>): { name: string; value: string }[] {
  return Object.entries({ 'max.message.bytes': String(MAX_MESSAGE_BYTES), ...own }).map(([name, value]) => ({
    name,
    value,
  }));
}
