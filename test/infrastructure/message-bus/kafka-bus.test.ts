import { expect } from 'chai';
import { setTimeout as pause } from 'node:timers/promises';
import { openKafkaBus } from '../../../infrastructure/message-bus/kafka/kafka-bus.ts';
import { message } from '../../contract/message-bus-fixtures.ts';
import { messageBusContract } from '../../contract/message-bus.ts';
import { requireService } from '../../support/adapters.ts';
import { eventually } from '../../support/eventually.ts';
import { openTestKafka, uniqueName } from '../../support/kafka.ts';
import { recordingLogger } from '../../support/recording-logger.ts';

describe('the Kafka message bus', () => {
  const kafka = requireService('kafka');
  messageBusContract(() => openTestKafka({ brokers: kafka.address() }));

  it('keeps a consumer in its group when its handler takes longer than the session timeout', async () => {
    const bus = await openTestKafka({ brokers: kafka.address(), sessionTimeoutMs: 6_000 });
    const [topic, group] = [uniqueName('topic'), uniqueName('group')];
    await bus.ensureTopics([{ topic, partitions: 1, compacted: false }]);
    const handled: string[] = [];
    await bus.consume({
      topics: [topic],
      group,
      async handler({ value }) {
        // The broker measures the session timeout, so the test has to wait for it.
        if (value === 'slow') await pause(8_000);
        handled.push(value ?? '');
      },
    });
    await bus.publish([message(topic, 'k', 'slow'), message(topic, 'k', 'next')]);
    await eventually(
      () => {
        expect(handled).to.deep.equal(['slow', 'next']);
      },
      { timeoutMs: 15_000 },
    );
    await bus.close();
    expect(handled).to.have.length(2);
  }).timeout(30_000);

  it('reports how far a group is behind', async () => {
    const depths: number[] = [];
    const bus = await openKafkaBus({
      brokers: [kafka.address()],
      clientId: 'palimpsest-test',
      logger: recordingLogger(),
      onFatal: () => undefined,
      metrics: { queueDepth: (_queue, depth) => depths.push(depth) },
    });
    const topic = uniqueName('topic');
    await bus.ensureTopics([{ topic, partitions: 1, compacted: false }]);
    await bus.publish([message(topic, 'k', 'x')]);
    await bus.consume({ topics: [topic], group: uniqueName('group'), handler: () => Promise.resolve() });
    await eventually(() => {
      expect(depths.at(-1)).to.equal(0);
    });
    await bus.close();
  });

  it('retries creating topics while the broker is unreachable, until its signal aborts', async () => {
    const bus = await openTestKafka({ brokers: '127.0.0.1:1' });
    const waiting = new AbortController();
    const made = bus.ensureTopics([{ topic: 't', partitions: 1, compacted: false }], waiting.signal).then(
      () => 'made',
      () => 'ended',
    );
    waiting.abort();
    expect(await made).to.equal('ended');
    await bus.close();
  });
});
