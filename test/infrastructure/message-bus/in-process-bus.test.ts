import { expect } from 'chai';
import { openInProcessBus } from '../../../infrastructure/message-bus/in-process/in-process-bus.ts';
import { message } from '../../contract/message-bus-fixtures.ts';
import { messageBusContract } from '../../contract/message-bus.ts';
import { eventually } from '../../support/eventually.ts';
import { gate } from '../../support/gate.ts';
import { recordingLogger } from '../../support/recording-logger.ts';

describe('the in-process message bus', () => {
  messageBusContract(() => Promise.resolve(openInProcessBus({ logger: recordingLogger() })));

  describe('limits', () => {
    it('makes a publisher wait for a slow consumer when the partition is full', async () => {
      const bus = openInProcessBus({ logger: recordingLogger(), capacity: 10 });
      await bus.ensureTopics([{ topic: 't', partitions: 1, compacted: false }]);
      const received: string[] = [];
      const released = gate();
      await bus.consume({
        topics: ['t'],
        group: 'g',
        async handler({ value }) {
          await released.opened;
          received.push(String(value));
        },
      });
      let published = false;
      const publishing = bus
        .publish(Array.from({ length: 25 }, (_, index) => message('t', 'k', String(index))))
        .then(() => {
          published = true;
        });
      await new Promise(setImmediate);
      expect(published).to.equal(false);
      released.open();
      await publishing;
      await eventually(() => {
        expect(received).to.deep.equal(Array.from({ length: 25 }, (_, index) => String(index)));
      });
      await bus.close();
    });

    it('keeps the last messages for a group without members, and warns when it drops an unread one', async () => {
      const logger = recordingLogger();
      const bus = openInProcessBus({ logger, capacity: 10 });
      await bus.ensureTopics([{ topic: 't', partitions: 1, compacted: false }]);
      const received: string[] = [];
      const options = {
        topics: ['t'],
        group: 'g',
        handler: ({ value }: { value: string | null }) => {
          received.push(String(value));
          return Promise.resolve();
        },
      };
      await (await bus.consume(options)).stop();
      await bus.publish(Array.from({ length: 25 }, (_, index) => message('t', 'k', String(index))));
      await bus.consume(options);
      await eventually(() => {
        expect(received).to.deep.equal(Array.from({ length: 10 }, (_, index) => String(index + 15)));
      });
      expect(logger.lines.filter(({ level }) => level === 'warn')).to.have.length(1);
      await bus.close();
    });
  });
});
