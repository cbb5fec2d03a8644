import { expect } from 'chai';
import type { ReceivedMessage } from '../../application/ports/message-bus.ts';
import { hasCode } from '../../domain/errors.ts';
import { eventually } from '../support/eventually.ts';
import { gate } from '../support/gate.ts';
import { uniqueName } from '../support/kafka.ts';
import { rejectionOf } from '../support/rejection.ts';
import { type BusContext, message, numbered, range, reach, sorted, values } from './message-bus-fixtures.ts';

/** Consumers that stop, and buses that are opened and closed. */
export function stopCases({ bus, consume, collect, newTopic, open }: BusContext): void {
  describe('stopping', () => {
    it('waits for the current message', async () => {
      const topic = await newTopic(1);
      const entered = gate();
      const released = gate();
      let finished = false;
      const subscription = await consume({
        topics: [topic],
        handler: async () => {
          entered.open();
          await released.opened;
          finished = true;
        },
      });
      await bus().publish([message(topic, 'k', 'x')]);
      await entered.opened;
      const stopped = subscription.stop().then(() => finished);
      released.open();
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
      await bus().publish(numbered(topic, 20));
      await reach(first, 20);
      await subscription.stop();
      await bus().publish(numbered(topic, 20, 20));
      const second = await collect(topic, { group });
      await reach(second, 20);
      expect(sorted(second)).to.deep.equal(range(40).slice(20));
    });

    it('loses nothing when it is stopped during a batch', async () => {
      const topic = await newTopic();
      const group = uniqueName('group');
      const all: ReceivedMessage[] = [];
      await bus().publish(numbered(topic, 500));
      for (let round = 1; round <= 3; round += 1) {
        const target = round * 100;
        const enough = gate();
        const subscription = await consume({
          topics: [topic],
          group,
          handler: (one) => {
            all.push(one);
            if (all.length >= target) enough.open();
            return Promise.resolve();
          },
        });
        await enough.opened;
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
          tried.open();
          return Promise.reject(new Error('no'));
        },
      });
      await bus().publish([message(topic, 'k', 'x')]);
      await tried.opened;
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
      await Promise.all([bus().ensureTopics([spec, other]), bus().ensureTopics([spec])]);
      await bus().ensureTopics([spec, other]);
      await bus().publish([message(spec.topic, 'k', 'x'), message(other.topic, 'k', 'x')]);
    });

    it('resolves a ping', async () => {
      await bus().ping();
    });

    it('stops its consumers and refuses to publish and consume once closed', async () => {
      const own = await open();
      const topic = uniqueName('topic');
      await own.ensureTopics([{ topic, partitions: 1, compacted: false }]);
      const entered = gate();
      const released = gate();
      let finished = false;
      await own.consume({
        topics: [topic],
        group: uniqueName('group'),
        handler: async () => {
          entered.open();
          await released.opened;
          finished = true;
        },
      });
      await own.publish([message(topic, 'k', 'x')]);
      await entered.opened;
      const closed = own.close().then(() => finished);
      released.open();
      expect(await closed).to.equal(true);
      const refusals = [
        await rejectionOf(own.publish([message(topic, 'k', 'y')])),
        await rejectionOf(
          own.consume({ topics: [topic], group: uniqueName('group'), handler: () => Promise.resolve() }),
        ),
      ];
      for (const error of refusals) expect(hasCode(error, 'unavailable')).to.equal(true);
    });
  });
}
