import { expect } from 'chai';
import type {
  ConsumeOptions,
  Message,
  MessageBus,
  ReceivedMessage,
  Subscription,
} from '../../application/ports/message-bus.ts';
import { eventually } from '../support/eventually.ts';
import { uniqueName } from '../support/kafka.ts';

/** What the cases of the contract share. Each test uses its own topics and groups. */
export type BusContext = {
  /** The bus of all tests of the contract. */
  readonly bus: () => MessageBus;
  /** Opens another bus. The caller closes it. */
  readonly open: () => Promise<MessageBus>;
  /** Creates a topic (3 partitions, not compacted by default). @returns its name */
  readonly newTopic: (partitions?: number, compacted?: boolean) => Promise<string>;
  /** Starts a consumer, by default in a group of its own. It is stopped after the test. */
  readonly consume: (
    options: Omit<ConsumeOptions, 'group' | 'retryDelayMs'> & Partial<ConsumeOptions>,
  ) => Promise<Subscription>;
  /** Starts a consumer that collects what it receives. @returns the list, which grows */
  readonly collect: (topic: string, options?: Partial<ConsumeOptions>) => Promise<ReceivedMessage[]>;
};

/** Opens a bus for the tests of the enclosing `describe`, and stops the consumers of each test after it. */
export function useBus(open: () => Promise<MessageBus>): BusContext {
  let bus: MessageBus;
  let running: Subscription[];

  before(async () => {
    bus = await open();
  });
  after(async () => {
    // Undefined when the suite was skipped.
    await (bus as MessageBus | undefined)?.close();
  });
  beforeEach(() => {
    running = [];
  });
  afterEach(async () => {
    await Promise.all(running.map((subscription) => subscription.stop()));
  });

  const newTopic: BusContext['newTopic'] = async (partitions = 3, compacted = false) => {
    const topic = uniqueName('topic');
    await bus.ensureTopics([{ topic, partitions, compacted }]);
    return topic;
  };
  const consume: BusContext['consume'] = async (options) => {
    const subscription = await bus.consume({ group: uniqueName('group'), retryDelayMs: 5, ...options });
    running.push(subscription);
    return subscription;
  };
  const collect: BusContext['collect'] = async (topic, options = {}) => {
    const received: ReceivedMessage[] = [];
    await consume({
      topics: [topic],
      handler: (message) => {
        received.push(message);
        return Promise.resolve();
      },
      ...options,
    });
    return received;
  };
  return { bus: () => bus, open, newTopic, consume, collect };
}

/** Waits until a list has at least `length` items. */
export function reach(list: readonly unknown[], length: number): Promise<void> {
  return eventually(() => {
    expect(list.length).to.be.at.least(length);
  });
}

/** A message without headers. */
export function message(topic: string, key: string, value: string | null): Message {
  return { topic, key, value, headers: {} };
}

/** Creates `count` messages with one key each, numbered upwards from `from` in their values. */
export function numbered(topic: string, count: number, from = 0): Message[] {
  return Array.from({ length: count }, (_, index) => message(topic, `key-${index}`, String(from + index)));
}

/** Returns the values of messages. */
export function values(messages: readonly ReceivedMessage[]): (string | null)[] {
  return messages.map(({ value }) => value);
}

/** Returns the values of numbered messages in ascending order. */
export function sorted(messages: readonly ReceivedMessage[]): number[] {
  return messages.map(({ value }) => Number(value)).sort((a, b) => a - b);
}

/** Returns the numbers from 0 up to `count`, exclusive. */
export function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** Expects the numbers in the values to increase within each key. */
export function expectOrderPerKey(messages: readonly ReceivedMessage[]): void {
  const last = new Map<string, number>();
  for (const { key, value } of messages) {
    expect(Number(value)).to.be.above(last.get(key) ?? -1);
    last.set(key, Number(value));
  }
}
