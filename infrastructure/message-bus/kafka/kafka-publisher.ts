import type { Message as KafkaMessage, Producer } from 'kafkajs';
import type { Message } from '../../../application/ports/message-bus.ts';
import { hasCode } from '../../../domain/errors.ts';
import { toRefusal } from './kafka-errors.ts';

/** Approximate maximum size of a request in bytes, so that the batch of a partition stays below usual broker limits. */
const MAX_REQUEST_BYTES = 900_000;
const MAX_REQUEST_MESSAGES = 2_000;
/** Bytes that key, headers and framing add to a value. */
const OVERHEAD = 400;

type Waiting = {
  readonly messages: readonly Message[];
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
};

export type KafkaPublisher = {
  readonly publish: (messages: readonly Message[]) => Promise<void>;
  /** Waits for the messages being sent. */
  drain(): Promise<void>;
};

/**
 * Sends requests one after another, because retries of concurrent requests would change the order of a key's messages.
 * Messages published while a request is in flight are sent together in the next one.
 */
export function createKafkaPublisher({ connected }: { readonly connected: () => Promise<Producer> }): KafkaPublisher {
  let waiting: Waiting[] = [];
  let pump: Promise<void> | undefined;

  return {
    publish(messages) {
      if (messages.length === 0) return Promise.resolve();
      return new Promise((resolve, reject) => {
        waiting.push({ messages, resolve, reject });
        pump ??= run();
      });
    },
    async drain() {
      await pump;
    },
  };

  async function run(): Promise<void> {
    // Messages published in this turn of the event loop are sent together.
    await Promise.resolve();
    while (waiting.length > 0) {
      const taken = waiting;
      waiting = [];
      await settle(taken);
    }
    pump = undefined;
  }

  async function settle(taken: readonly Waiting[]): Promise<void> {
    try {
      await send(taken.flatMap(({ messages }) => messages));
      for (const { resolve } of taken) resolve();
    } catch (error) {
      const failure = toRefusal(error);
      // A message that is too large must not fail the other messages of its request.
      if (taken.length > 1 && hasCode(failure, 'too_large')) {
        for (const one of taken) await settle([one]);
        return;
      }
      for (const { reject } of taken) reject(failure);
    }
  }

  async function send(messages: readonly Message[]): Promise<void> {
    const producer = await connected();
    for (const request of requests(messages)) {
      await producer.sendBatch({ acks: -1, topicMessages: byTopic(request) });
    }
  }
}

function* requests(messages: readonly Message[]): Iterable<readonly Message[]> {
  let request: Message[] = [];
  let bytes = 0;
  for (const message of messages) {
    const size =
      OVERHEAD + Buffer.byteLength(message.key) + (message.value === null ? 0 : Buffer.byteLength(message.value));
    if (request.length > 0 && (bytes + size > MAX_REQUEST_BYTES || request.length === MAX_REQUEST_MESSAGES)) {
      yield request;
      request = [];
      bytes = 0;
    }
    request.push(message);
    bytes += size;
  }
  if (request.length > 0) yield request;
}

function byTopic(messages: readonly Message[]): { topic: string; messages: KafkaMessage[] }[] {
  const topics = new Map<string, KafkaMessage[]>();
  for (const { topic, key, value, headers } of messages) {
    const message = { key, value, headers };
    const list = topics.get(topic);
    if (list) list.push(message);
    else topics.set(topic, [message]);
  }
  return [...topics].map(([topic, list]) => ({ topic, messages: list }));
}
