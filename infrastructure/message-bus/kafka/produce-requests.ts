import type { Message as KafkaMessage } from 'kafkajs';
import type { Message } from '../../../application/ports/message-bus.ts';

/** Approximate maximum size of a request in bytes. It bounds what the client holds in encoded form. */
const MAX_REQUEST_BYTES = 900_000;
const MAX_REQUEST_MESSAGES = 2_000;
/** Bytes of the header of a record batch, of the lengths in a record and of those of each of its headers, at most. */
const BATCH_BYTES = 61;
const RECORD_BYTES = 40;
const HEADER_BYTES = 10;

export type TopicMessages = { topic: string; messages: KafkaMessage[] };

/** The size of a batch with only this message, in bytes: exact but for a few bytes more per length. */
export function bytesOf({ key, value, headers }: Message): number {
  let bytes = BATCH_BYTES + RECORD_BYTES + Buffer.byteLength(key) + (value === null ? 0 : Buffer.byteLength(value));
  for (const [name, text] of Object.entries(headers))
    bytes += HEADER_BYTES + Buffer.byteLength(name) + Buffer.byteLength(text);
  return bytes;
}

/**
 * Splits messages into requests, in order. A request has at most one batch for a partition, and the limit of a topic
 * applies to a batch; so the messages of a request for one topic stay below the limit of the topic. A message that is
 * larger than a limit is alone.
 */
export function* produceRequests(
  messages: readonly Message[],
  limitOf: (topic: string) => number = () => Infinity,
): Iterable<TopicMessages[]> {
  let topics = new Map<string, TopicMessages & { bytes: number }>();
  let bytes = 0;
  let count = 0;
  for (const message of messages) {
    const { topic, key, value, headers } = message;
    const size = bytesOf(message);
    const isFull =
      bytes + size > MAX_REQUEST_BYTES ||
      count === MAX_REQUEST_MESSAGES ||
      (topics.get(topic)?.bytes ?? 0) + size > limitOf(topic);
    if (count > 0 && isFull) {
      yield [...topics.values()];
      topics = new Map();
      bytes = 0;
      count = 0;
    }
    const ofTopic = topics.get(topic) ?? { topic, messages: [], bytes: 0 };
    topics.set(topic, ofTopic);
    ofTopic.messages.push({ key, value, headers });
    ofTopic.bytes += size;
    bytes += size;
    count += 1;
  }
  if (count > 0) yield [...topics.values()];
}
