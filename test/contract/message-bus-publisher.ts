import { expect } from 'chai';
import { uniqueName } from '../support/kafka.ts';
import { rejectionOf } from '../support/rejection.ts';
import { type BusContext, message, numbered, reach, values } from './message-bus-fixtures.ts';

/** Publishers of which one per name can publish. */
export function publisherCases({ bus, open, collect, newTopic }: BusContext): void {
  describe('publishers by name', () => {
    it('publish in order per key', async () => {
      const topic = await newTopic(1);
      const received = await collect(topic);
      const publisher = await bus().openPublisher({ name: uniqueName('publisher'), topics: [topic] });
      for (let from = 0; from < 60; from += 20) await publisher.publish(numbered(topic, 20, from));
      await reach(received, 60);
      expect(values(received)).to.deep.equal(Array.from({ length: 60 }, (_, index) => String(index)));
      await publisher.close();
    });

    it('are refused once another one was opened under their name, and other names are not', async () => {
      const topic = await newTopic(1);
      const received = await collect(topic);
      const name = uniqueName('publisher');
      const first = await bus().openPublisher({ name, topics: [topic] });
      const other = await bus().openPublisher({ name: uniqueName('publisher'), topics: [topic] });
      await first.publish([message(topic, 'k', 'first')]);
      const second = await bus().openPublisher({ name, topics: [topic] });
      await second.publish([message(topic, 'k', 'second')]);
      expect(await rejectionOf(first.publish([message(topic, 'k', 'late')]))).to.include({ code: 'lease_lost' });
      await other.publish([message(topic, 'k', 'other')]);
      await second.publish([message(topic, 'k', 'third')]);
      await reach(received, 4);
      expect(values(received)).to.deep.equal(['first', 'second', 'other', 'third']);
      for (const publisher of [first, second, other]) await publisher.close();
    });

    it('are refused when the bus is closed', async () => {
      const own = await open();
      const topic = await newTopic(1);
      const publisher = await own.openPublisher({ name: uniqueName('publisher'), topics: [topic] });
      await own.close();
      expect(await rejectionOf(publisher.publish([message(topic, 'k', 'x')]))).to.include({ code: 'unavailable' });
      expect(await rejectionOf(own.openPublisher({ name: 'n', topics: [topic] }))).to.include({ code: 'unavailable' });
    });
  });
}
