import { expect } from 'chai';
import type { ReceivedMessage } from '../../application/ports/message-bus.ts';
import { hasCode } from '../../domain/errors.ts';
import { eventually } from '../support/eventually.ts';
import { uniqueName } from '../support/kafka.ts';
import { rejectionOf } from '../support/rejection.ts';
import {
  type BusContext,
  expectOrderPerKey,
  message,
  numbered,
  range,
  reach,
  sorted,
  values,
} from './message-bus-fixtures.ts';

/** Publishing, the order of messages, and groups. */
export function deliveryCases({ bus, consume, collect, newTopic }: BusContext): void {
  describe('publishing', () => {
    it('delivers key, value, headers, partition and offset, as attempt 1', async () => {
      const topic = await newTopic();
      const received = await collect(topic);
      await bus().publish([{ topic, key: 'k1', value: '{"a":1}', headers: { ce_id: 'e1', tenant: 'acme' } }]);
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
      await bus().publish([{ topic, key: text, value: JSON.stringify({ text }), headers: { text, empty: '' } }]);
      await reach(received, 1);
      expect(received[0]).to.include({ key: text, value: JSON.stringify({ text }) });
      expect(received[0]?.headers).to.deep.equal({ text, empty: '' });
    });

    it('distinguishes a null value from an empty one', async () => {
      const topic = await newTopic(1, true);
      const received = await collect(topic);
      await bus().publish([message(topic, 'k', 'x'), message(topic, 'k', ''), message(topic, 'k', null)]);
      await reach(received, 3);
      expect(received.map(({ value }) => value)).to.deep.equal(['x', '', null]);
    });

    it('carries a message of 12 MB', async function () {
      this.timeout(30_000);
      const topic = await newTopic(1);
      const received = await collect(topic);
      const value = 'ä'.repeat(6_000_000);
      await bus().publish([message(topic, 'k', value), message(topic, 'k', 'after')]);
      await reach(received, 2);
      expect(received[0]?.value === value).to.equal(true);
      expect(received[1]?.value).to.equal('after');
    });

    it('accepts an empty list of messages', async () => {
      await bus().publish([]);
    });

    it('refuses a topic that does not exist', async () => {
      const error = await rejectionOf(bus().publish([message(uniqueName('missing'), 'k', 'x')]));
      expect(hasCode(error, 'unavailable')).to.equal(true);
    }).timeout(30_000);

    it('publishes to several topics in one call', async () => {
      const [a, b] = [await newTopic(), await newTopic()];
      const [fromA, fromB] = [await collect(a), await collect(b)];
      await bus().publish([message(a, 'k', '1'), message(b, 'k', '2'), message(a, 'k', '3')]);
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
      await bus().publish(batch);
      await reach(received, 5_000);
      expect(received).to.have.length(5_000);
      expectOrderPerKey(received);
    });

    it('keeps the order per key across publishes that were not awaited', async () => {
      const topic = await newTopic();
      const received = await collect(topic);
      await Promise.all(
        Array.from({ length: 300 }, (_, index) => bus().publish([message(topic, `key-${index % 5}`, String(index))])),
      );
      await reach(received, 300);
      expectOrderPerKey(received);
    });

    it('stores the messages of a key in one partition, and uses all partitions', async () => {
      const topic = await newTopic();
      const received = await collect(topic);
      await bus().publish(
        Array.from({ length: 200 }, (_, index) => message(topic, `key-${index % 40}`, String(index))),
      );
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
      await bus().publish(['1', '2', '3'].map((value) => message(topic, 'k', value)));
      await reach(seen, 5);
      expect(seen).to.deep.equal(['1/1', '2/1', '2/2', '2/3', '3/1']);
    });
  });

  describe('groups', () => {
    it('delivers every message to every group', async () => {
      const topic = await newTopic();
      const [a, b] = [await collect(topic), await collect(topic)];
      await bus().publish(numbered(topic, 30));
      await reach(a, 30);
      await reach(b, 30);
      expect([sorted(a), sorted(b)]).to.deep.equal([range(30), range(30)]);
    });

    it('delivers earlier messages to a new group', async () => {
      const topic = await newTopic();
      await bus().publish(numbered(topic, 20));
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
          await bus().publish(numbered(topic, 30));
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
      await bus().publish(numbered(topic, 60));
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
          await bus().publish(
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
      await bus().publish(topics.map((topic) => message(topic, 'k', topic)));
      await reach(received, 2);
      expect(received.map(({ topic }) => topic)).to.have.members(topics);
    });

    it('lets a handler publish', async () => {
      const [from, to] = [await newTopic(), await newTopic()];
      await consume({
        topics: [from],
        handler: ({ key, value }) => bus().publish([message(to, key, `copy of ${value}`)]),
      });
      const copies = await collect(to);
      await bus().publish([message(from, 'k', 'one')]);
      await reach(copies, 1);
      expect(values(copies)).to.deep.equal(['copy of one']);
    });
  });
}
