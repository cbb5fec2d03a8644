import type { ICustomPartitioner, Kafka } from 'kafkajs';
import type { FencedPublisher } from '../../../application/ports/message-bus.ts';
import { toRefusal } from './kafka-errors.ts';
import { bytesOf, produceRequests } from './produce-requests.ts';

/**
 * The coordinator refuses a new transaction while it writes the markers of the previous one, which takes milliseconds.
 * The pauses grow to about five seconds in total.
 */
const RETRY = { initialRetryTime: 5, retries: 10, maxRetryTime: 5_000 };
/** Time after which the broker aborts the transaction of a process that died, unless another process does so before. */
const TRANSACTION_TIMEOUT_MS = 60_000;

export type KafkaFencedPublisherOptions = {
  /** The transactional id. */
  readonly name: string;
  readonly kafka: Kafka;
  readonly createPartitioner: ICustomPartitioner;
  /** The maximum size of a batch of each topic in bytes; absent when it is not known. */
  readonly limits: ReadonlyMap<string, number>;
};

/**
 * Opens a producer with a transactional id. The broker gives it a new epoch, ends the open transaction of the earlier
 * producer with this id and refuses its messages from then on. A publish is a transaction. A producer whose transaction
 * failed is not used again: the client takes back the sequence numbers of a request as a whole, also when the broker
 * has stored a part of it, and the broker would take later messages with these numbers for repetitions.
 */
export async function openKafkaFencedPublisher({
  name,
  kafka,
  createPartitioner,
  limits,
}: KafkaFencedPublisherOptions): Promise<FencedPublisher> {
  const producer = kafka.producer({
    transactionalId: name,
    transactionTimeout: TRANSACTION_TIMEOUT_MS,
    allowAutoTopicCreation: false,
    createPartitioner,
    maxInFlightRequests: 1,
    retry: RETRY,
  });
  const limitOf = (topic: string): number => limits.get(topic) ?? Infinity;
  let isUsable = true;

  /** Runs the work; after an error the producer is not used again. */
  async function guarded<T>(work: () => Promise<T>): Promise<T> {
    if (!isUsable) throw toRefusal(new Error('the publisher has failed or is closed'));
    try {
      return await work();
    } catch (error) {
      isUsable = false;
      throw toRefusal(error);
    }
  }

  async function close(): Promise<void> {
    isUsable = false;
    await producer.disconnect();
  }

  try {
    await guarded(async () => {
      await producer.connect();
      // The client requests the epoch with the first transaction. This one has no messages and ends in the client.
      const transaction = await producer.transaction();
      await transaction.abort();
    });
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
  return {
    accepts: (message) => bytesOf(message) <= limitOf(message.topic),
    publish: (messages) =>
      guarded(async () => {
        const transaction = await producer.transaction();
        for (const topicMessages of produceRequests(messages, limitOf))
          await transaction.sendBatch({ acks: -1, topicMessages });
        await transaction.commit();
      }),
    close,
  };
}
