import type { Producer } from 'kafkajs';
import type { Message } from '../../../application/ports/message-bus.ts';
import { hasCode } from '../../../domain/errors.ts';
import { toRefusal } from './kafka-errors.ts';
import { produceRequests } from './produce-requests.ts';

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
      const batch = waiting;
      waiting = [];
      await settle(batch);
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
    for (const topicMessages of produceRequests(messages)) await producer.sendBatch({ acks: -1, topicMessages });
  }
}
