import { appendFileSync } from 'node:fs';
import { openMemoryEventStore } from '../../../../infrastructure/event-store/memory/memory-event-store.ts';
import { createKafkaEventFeed } from '../../../../infrastructure/message-bus/kafka-event-feed.ts';
import { openTestKafka } from '../../../support/kafka.ts';

/**
 * A worker in a separate process. It records the ids of its events in a file and blocks in the handler after the tenth
 * event.
 */
const [brokers = '', prefix = '', worker = '', file = ''] = process.argv.slice(2);

const bus = await openTestKafka({ brokers, sessionTimeoutMs: 6_000 });
let handled = 0;
await createKafkaEventFeed({ bus, prefix, eventStore: openMemoryEventStore() }).start({
  worker,
  categories: ['entry'],
  async handle(events) {
    for (const event of events) appendFileSync(file, `${event.id}\n`);
    handled += events.length;
    if (handled < 10) return;
    console.log('standing');
    await new Promise(() => undefined);
  },
});
