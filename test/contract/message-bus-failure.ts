import { expect } from 'chai';
import { deadLetterTopic } from '../../application/ports/message-bus.ts';
import { refusal } from '../../domain/errors.ts';
import { uniqueName } from '../support/kafka.ts';
import { type BusContext, message, numbered, reach } from './message-bus-fixtures.ts';

/** Handlers that fail: attempts, dead letters and outages. */
export function failureCases({ bus, consume, collect, newTopic }: BusContext): void {
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
      await bus().publish([
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
      await bus().publish([message(topic, 'k', 'not JSON')]);
      await reach(letters, 1);
      expect(letters[0]?.headers).to.include({ 'x-attempts': '1' });
    });

    it('keeps a null value on the dead-letter topic', async () => {
      const topic = await newTopic(1, true);
      const letters = await collect(deadLetterTopic(topic));
      await consume({ topics: [topic], maxAttempts: 1, handler: () => Promise.reject(new Error('no')) });
      await bus().publish([message(topic, 'k', null)]);
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
      await bus().publish([message(topic, 'k', 'x')]);
      await reach(attempts, 6);
      expect(attempts).to.deep.equal([1, 1, 1, 1, 1, 1]);
      expect(letters).to.deep.equal([]);
    });

    it('does not affect other groups when one group fails', async () => {
      const topic = await newTopic(1);
      const letters = await collect(deadLetterTopic(topic));
      const healthy = await collect(topic);
      await consume({ topics: [topic], maxAttempts: 1, handler: () => Promise.reject(new Error('no')) });
      await bus().publish(numbered(topic, 5));
      await reach(healthy, 5);
      await reach(letters, 5);
    });

    it('continues with other partitions while a message is retried', async () => {
      const topic = await newTopic();
      const probe = await collect(topic);
      await bus().publish(numbered(topic, 40));
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
}
