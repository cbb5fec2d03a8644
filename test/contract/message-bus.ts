import { expect } from 'chai';
import {
  type ConsumeOptions,
  type Message,
  type MessageBus,
  type ReceivedMessage,
  type Subscription,
  deadLetterTopic,
} from '../../application/ports/message-bus.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import { eventually } from '../support/eventually.ts';
import { uniqueName } from '../support/kafka.ts';

/**
 * The contract of the port `MessageBus` (`application/ports/message-bus.ts`). `open` opens a bus; each test uses its
 * own topics and groups.
 */
export function messageBusContract(open: () => Promise<MessageBus>): void {
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

  const newTopic = async (partitions = 3, compacted = false): Promise<string> => {
    const topic = uniqueName('topic');
    await bus.ensureTopics([{ topic, partitions, compacted }]);
    return topic;
  };
  const consume = async (
    options: Omit<ConsumeOptions, 'group' | 'retryDelayMs'> & Partial<ConsumeOptions>,
  ): Promise<Subscription> => {
    const subscription = await bus.consume({ group: uniqueName('group'), retryDelayMs: 5, ...options });
    running.push(subscription);
    return subscription;
  };
  const collect = async (topic: string, options: Partial<ConsumeOptions> = {}): Promise<ReceivedMessage[]> => {
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
  const reach = (list: readonly unknown[], length: number): Promise<void> =>
    eventually(() => {
      expect(list.length).to.be.at.least(length);
    });

  describe('publishing', () => {
    it('delivers key, value, headers, partition and offset, as attempt 1', async () => {
      const topic = await newTopic();
      const received = await collect(topic);
      await bus.publish([{ topic, key: 'k1', value: '{"a":1}', headers: { ce_id: 'e1', tenant: 'acme' } }]);
      await reach(received, 1);
      const [first] = received;
      expect(first).to.include({ topic, key: 'k1', value: '{"a":1}', attempt: 1 });
      expect(first?.headers).to.deep.equal({ ce_id: 'e1', tenant: 'acme' });
      expect(first?.partition).to.be.within(0, 2);
      expect(first?.offset).to.match(/^\d+$/);
    });

    it('keeps any Unicode text in keys, values and headers', async () => {
      const topic = await newTopic();
      const received = await collect(topic);
      const text = 'Zażółć gęślą jaźń – 漢字 – עברית – 👩‍👩‍👧 – \u0000 – "\\\n';
      await bus.publish([{ topic, key: text, value: JSON.stringify({ text }), headers: { text, empty: '' } }]);
      await reach(received, 1);
      expect(received[0]).to.include({ key: text, value: JSON.stringify({ text }) });
      expect(received[0]?.headers).to.deep.equal({ text, empty: '' });
    });

    it('distinguishes a null value from an empty one', async () => {
      const topic = await newTopic(1, true);
      const received = await collect(topic);
      await bus.publish([message(topic, 'k', 'x'), message(topic, 'k', ''), message(topic, 'k', null)]);
      await reach(received, 3);
      expect(received.map(({ value }) => value)).to.deep.equal(['x', '', null]);
    });

    it('carries a message of 12 MB', async function () {
      this.timeout(30_000);
      const topic = await newTopic(1);
      const received = await collect(topic);
      const value = 'ä'.repeat(6_000_000);
      await bus.publish([message(topic, 'k', value), message(topic, 'k', 'after')]);
      await reach(received, 2);
      expect(received[0]?.value === value).to.equal(true);
      expect(received[1]?.value).to.equal('after');
    });

    it('accepts an empty list of messages', async () => {
      await bus.publish([]);
    });

    it('refuses a topic that does not exist', async () => {
      const error = await rejection(bus.publish([message(uniqueName('missing'), 'k', 'x')]));
      expect(hasCode(error, 'unavailable')).to.equal(true);
    }).timeout(30_000);

    it('publishes to several topics in one call', async () => {
      const [a, b] = [await newTopic(), await newTopic()];
      const [fromA, fromB] = [await collect(a), await collect(b)];
      await bus.publish([message(a, 'k', '1'), message(b, 'k', '2'), message(a, 'k', '3')]);
      await reach(fromA, 2);
      await reach(fromB, 1);
      expect([values(fromA), values(fromB)]).to.deep.equal([['1', '3'], ['2']]);
    });
  });

  describe('order', () => {
    it('keeps the order per key in a batch of 5,000 messages and loses none', async () => {
      const topic = await newTopic();
      const received = await collect(topic);
      const batch = Array.from({ length: 5_000 }, (_, index) => message(topic, `key-${index % 50}`, String(index)));
      await bus.publish(batch);
      await reach(received, 5_000);
      expect(received).to.have.length(5_000);
      expectOrderPerKey(received);
    });

    it('keeps the order per key across publishes that were not awaited', async () => {
      const topic = await newTopic();
      const received = await collect(topic);
      await Promise.all(
        Array.from({ length: 300 }, (_, index) => bus.publish([message(topic, `key-${index % 5}`, String(index))])),
      );
      await reach(received, 300);
      expectOrderPerKey(received);
    });

    it('stores the messages of a key in one partition, and uses all partitions', async () => {
      const topic = await newTopic();
      const received = await collect(topic);
      await bus.publish(Array.from({ length: 200 }, (_, index) => message(topic, `key-${index % 40}`, String(index))));
      await reach(received, 200);
      const partitionsOf = new Map<string, Set<number>>();
      for (const { key, partition } of received)
        partitionsOf.set(key, (partitionsOf.get(key) ?? new Set()).add(partition));
      expect([...partitionsOf.values()].every(({ size }) => size === 1)).to.equal(true);
      expect(new Set(received.map(({ partition }) => partition)).size).to.equal(3);
    });

    it('keeps the order of a key while one of its messages is retried', async () => {
      const topic = await newTopic(1);
      const seen: string[] = [];
      await consume({
        topics: [topic],
        handler: ({ value, attempt }) => {
          seen.push(`${value}/${attempt}`);
          return value === '2' && attempt < 3 ? Promise.reject(new Error('not yet')) : Promise.resolve();
        },
      });
      await bus.publish(['1', '2', '3'].map((value) => message(topic, 'k', value)));
      await reach(seen, 5);
      expect(seen).to.deep.equal(['1/1', '2/1', '2/2', '2/3', '3/1']);
    });
  });

  describe('groups', () => {
    it('delivers every message to every group', async () => {
      const topic = await newTopic();
      const [a, b] = [await collect(topic), await collect(topic)];
      await bus.publish(numbered(topic, 30));
      await reach(a, 30);
      await reach(b, 30);
      expect([sorted(a), sorted(b)]).to.deep.equal([range(30), range(30)]);
    });

    it('delivers earlier messages to a new group', async () => {
      const topic = await newTopic();
      await bus.publish(numbered(topic, 20));
      const received = await collect(topic);
      await reach(received, 20);
      expect(sorted(received)).to.deep.equal(range(20));
    });

    it('distributes messages among the members of a group, each to one member', async () => {
      const topic = await newTopic();
      const group = uniqueName('group');
      const [a, b] = [await collect(topic, { group }), await collect(topic, { group })];
      // The second member gets partitions only once the first has noticed it.
      await eventually(
        async () => {
          await bus.publish(numbered(topic, 30));
          expect(a.length).to.be.above(0);
          expect(b.length).to.be.above(0);
        },
        { everyMs: 100 },
      );
      await eventually(() => {
        expect((a.length + b.length) % 30).to.equal(0);
      });
      const places = [...a, ...b].map(({ partition, offset }) => `${partition}/${offset}`);
      expect(new Set(places).size).to.equal(places.length);
    });

    it('reassigns the partitions of a member that leaves', async () => {
      const topic = await newTopic();
      const group = uniqueName('group');
      const remaining = await collect(topic, { group });
      const leaving = await consume({ topics: [topic], group, handler: () => Promise.resolve() });
      await leaving.stop();
      await bus.publish(numbered(topic, 60));
      await reach(remaining, 60);
      expect(sorted(remaining)).to.deep.equal(range(60));
    });

    it('loses nothing and keeps the order per key while members come and go', async () => {
      const topic = await newTopic();
      const group = uniqueName('group');
      const received: ReceivedMessage[] = [];
      const handler = async (one: ReceivedMessage): Promise<void> => {
        await new Promise(setImmediate);
        received.push(one);
      };
      const staying = await consume({ topics: [topic], group, handler });
      const publishing = (async () => {
        for (let index = 0; index < 1_500; index += 50)
          await bus.publish(
            Array.from({ length: 50 }, (_, offset) => message(topic, `key-${offset % 10}`, String(index + offset))),
          );
      })();
      await reach(received, 100);
      const shortLived = await consume({ topics: [topic], group, handler });
      await shortLived.stop();
      await publishing;
      await eventually(() => {
        expect(new Set(values(received)).size).to.equal(1_500);
      });
      await staying.stop();
      const seen = new Set<string | null>();
      expectOrderPerKey(received.filter(({ value }) => !seen.has(value) && seen.add(value)));
    });

    it('delivers several topics to one consumer', async () => {
      const topics = [await newTopic(), await newTopic()];
      const received: ReceivedMessage[] = [];
      await consume({
        topics,
        handler: (one) => {
          received.push(one);
          return Promise.resolve();
        },
      });
      await bus.publish(topics.map((topic) => message(topic, 'k', topic)));
      await reach(received, 2);
      expect(received.map(({ topic }) => topic)).to.have.members(topics);
    });

    it('lets a handler publish', async () => {
      const [from, to] = [await newTopic(), await newTopic()];
      await consume({
        topics: [from],
        handler: ({ key, value }) => bus.publish([message(to, key, `copy of ${value}`)]),
      });
      const copies = await collect(to);
      await bus.publish([message(from, 'k', 'one')]);
      await reach(copies, 1);
      expect(values(copies)).to.deep.equal(['copy of one']);
    });
  });

  describe('failures', () => {
    it('publishes a message to the dead-letter topic with the reason after the last attempt, and continues', async () => {
      const topic = await newTopic(1);
      const group = uniqueName('group');
      const letters = await collect(deadLetterTopic(topic));
      const handled: string[] = [];
      const started = new Date().toISOString();
      await consume({
        topics: [topic],
        group,
        maxAttempts: 3,
        handler: ({ value }) => {
          if (value === 'bad') return Promise.reject(new Error('żółty błąd'));
          handled.push(value ?? 'null');
          return Promise.resolve();
        },
      });
      await bus.publish([
        message(topic, 'k', 'one'),
        { topic, key: 'k', value: 'bad', headers: { ce_id: 'e-bad' } },
        message(topic, 'k', 'two'),
      ]);
      await reach(letters, 1);
      await reach(handled, 2);
      expect(handled).to.deep.equal(['one', 'two']);
      const [letter] = letters;
      expect(letter).to.include({ key: 'k', value: 'bad' });
      expect(letter?.headers).to.include({
        ce_id: 'e-bad',
        'x-origin-topic': topic,
        'x-origin-partition': '0',
        'x-origin-offset': '1',
        'x-group': group,
        'x-error': 'Error: żółty błąd',
        'x-attempts': '3',
      });
      const firstSeen = letter?.headers['x-first-seen'] ?? '';
      expect(firstSeen >= started && firstSeen <= new Date().toISOString()).to.equal(true);
    });

    it('publishes an unreadable message to the dead-letter topic immediately', async () => {
      const topic = await newTopic(1);
      const letters = await collect(deadLetterTopic(topic));
      await consume({ topics: [topic], handler: () => Promise.reject(refusal('message_unreadable')) });
      await bus.publish([message(topic, 'k', 'not JSON')]);
      await reach(letters, 1);
      expect(letters[0]?.headers).to.include({ 'x-attempts': '1' });
    });

    it('keeps a null value on the dead-letter topic', async () => {
      const topic = await newTopic(1, true);
      const letters = await collect(deadLetterTopic(topic));
      await consume({ topics: [topic], maxAttempts: 1, handler: () => Promise.reject(new Error('no')) });
      await bus.publish([message(topic, 'k', null)]);
      await reach(letters, 1);
      expect(letters[0]?.value).to.equal(null);
    });

    it('waits during an outage without counting attempts', async () => {
      const topic = await newTopic(1);
      const letters = await collect(deadLetterTopic(topic));
      const attempts: number[] = [];
      await consume({
        topics: [topic],
        maxAttempts: 2,
        handler: ({ attempt }) => {
          attempts.push(attempt);
          return attempts.length < 6
            ? Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }))
            : Promise.resolve();
        },
      });
      await bus.publish([message(topic, 'k', 'x')]);
      await reach(attempts, 6);
      expect(attempts).to.deep.equal([1, 1, 1, 1, 1, 1]);
      expect(letters).to.deep.equal([]);
    });

    it('does not affect other groups when one group fails', async () => {
      const topic = await newTopic(1);
      const letters = await collect(deadLetterTopic(topic));
      const healthy = await collect(topic);
      await consume({ topics: [topic], maxAttempts: 1, handler: () => Promise.reject(new Error('no')) });
      await bus.publish(numbered(topic, 5));
      await reach(healthy, 5);
      await reach(letters, 5);
    });

    it('continues with other partitions while a message is retried', async () => {
      const topic = await newTopic();
      const probe = await collect(topic);
      await bus.publish(numbered(topic, 40));
      await reach(probe, 40);
      const failing = probe[0]?.partition;
      const elsewhere = probe.filter(({ partition }) => partition !== failing).length;
      const handled: number[] = [];
      await consume({
        topics: [topic],
        retryDelayMs: 60_000,
        handler: ({ partition }) => {
          if (partition === failing) return Promise.reject(new Error('no'));
          handled.push(partition);
          return Promise.resolve();
        },
      });
      await reach(handled, elsewhere);
    });
  });

  describe('stopping', () => {
    it('waits for the current message', async () => {
      const topic = await newTopic(1);
      const hand = gate();
      let finished = false;
      const subscription = await consume({
        topics: [topic],
        handler: async () => {
          hand.arrive();
          await hand.opened;
          finished = true;
        },
      });
      await bus.publish([message(topic, 'k', 'x')]);
      await hand.arrived;
      const stopped = subscription.stop().then(() => finished);
      hand.open();
      expect(await stopped).to.equal(true);
    });

    it('resumes where the group stopped, without loss or repetition', async () => {
      const topic = await newTopic();
      const group = uniqueName('group');
      const first: ReceivedMessage[] = [];
      const subscription = await consume({
        topics: [topic],
        group,
        handler: (one) => {
          first.push(one);
          return Promise.resolve();
        },
      });
      await bus.publish(numbered(topic, 20));
      await reach(first, 20);
      await subscription.stop();
      await bus.publish(numbered(topic, 20, 20));
      const second = await collect(topic, { group });
      await reach(second, 20);
      expect(sorted(second)).to.deep.equal(range(40).slice(20));
    });

    it('loses nothing when it is stopped during a batch', async () => {
      const topic = await newTopic();
      const group = uniqueName('group');
      const all: ReceivedMessage[] = [];
      await bus.publish(numbered(topic, 500));
      for (let round = 1; round <= 3; round += 1) {
        const target = round * 100;
        const enough = gate();
        const subscription = await consume({
          topics: [topic],
          group,
          handler: (one) => {
            all.push(one);
            if (all.length >= target) enough.arrive();
            return Promise.resolve();
          },
        });
        await enough.arrived;
        await subscription.stop();
      }
      all.push(
        ...(await collectUntil(
          topic,
          group,
          (received) => new Set([...values(all), ...values(received)]).size === 500,
        )),
      );
      expect(new Set(values(all)).size).to.equal(500);
    });

    it('interrupts a pause between attempts; the message is delivered again', async () => {
      const topic = await newTopic(1);
      const group = uniqueName('group');
      const tried = gate();
      const failing = await consume({
        topics: [topic],
        group,
        retryDelayMs: 3_600_000,
        handler: () => {
          tried.arrive();
          return Promise.reject(new Error('no'));
        },
      });
      await bus.publish([message(topic, 'k', 'x')]);
      await tried.arrived;
      await failing.stop();
      const received = await collect(topic, { group });
      await reach(received, 1);
      expect(values(received)).to.deep.equal(['x']);
    });

    it('can be stopped twice', async () => {
      const subscription = await consume({ topics: [await newTopic()], handler: () => Promise.resolve() });
      await Promise.all([subscription.stop(), subscription.stop()]);
      await subscription.stop();
    });

    async function collectUntil(
      topic: string,
      group: string,
      done: (received: readonly ReceivedMessage[]) => boolean,
    ): Promise<ReceivedMessage[]> {
      const received = await collect(topic, { group });
      await eventually(() => {
        expect(done(received)).to.equal(true);
      });
      return received;
    }
  });

  describe('topics and closing', () => {
    it('accepts topics that exist already, also concurrently', async () => {
      const spec = { topic: uniqueName('topic'), partitions: 3, compacted: true };
      const other = { ...spec, topic: uniqueName('topic') };
      await Promise.all([bus.ensureTopics([spec, other]), bus.ensureTopics([spec])]);
      await bus.ensureTopics([spec, other]);
      await bus.publish([message(spec.topic, 'k', 'x'), message(other.topic, 'k', 'x')]);
    });

    it('resolves a ping', async () => {
      await bus.ping();
    });

    it('stops its consumers and refuses to publish and consume once closed', async () => {
      const own = await open();
      const topic = uniqueName('topic');
      await own.ensureTopics([{ topic, partitions: 1, compacted: false }]);
      const hand = gate();
      let finished = false;
      await own.consume({
        topics: [topic],
        group: uniqueName('group'),
        handler: async () => {
          hand.arrive();
          await hand.opened;
          finished = true;
        },
      });
      await own.publish([message(topic, 'k', 'x')]);
      await hand.arrived;
      const closed = own.close().then(() => finished);
      hand.open();
      expect(await closed).to.equal(true);
      const refusals = [
        await rejection(own.publish([message(topic, 'k', 'y')])),
        await rejection(own.consume({ topics: [topic], group: uniqueName('group'), handler: () => Promise.resolve() })),
      ];
      for (const error of refusals) expect(hasCode(error, 'unavailable')).to.equal(true);
    });
  });
}

/** A message without headers. */
export function message(topic: string, key: string, value: string | null): Message {
  return { topic, key, value, headers: {} };
}

function numbered(topic: string, count: number, from = 0): Message[] {
  return Array.from({ length: count }, (_, index) => message(topic, `key-${index}`, String(from + index)));
}

function values(messages: readonly ReceivedMessage[]): (string | null)[] {
  return messages.map(({ value }) => value);
}

function sorted(messages: readonly ReceivedMessage[]): number[] {
  return messages.map(({ value }) => Number(value)).sort((a, b) => a - b);
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

function expectOrderPerKey(messages: readonly ReceivedMessage[]): void {
  const last = new Map<string, number>();
  for (const { key, value } of messages) {
    expect(Number(value)).to.be.above(last.get(key) ?? -1);
    last.set(key, Number(value));
  }
}

async function rejection(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('it did not reject');
}

/** Two events to wait for: the handler was entered, and it may continue. */
function gate(): { arrive: () => void; arrived: Promise<void>; open: () => void; opened: Promise<void> } {
  let arrive = (): void => undefined;
  let open = (): void => undefined;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { arrive, arrived, open, opened };
}
