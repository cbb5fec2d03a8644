import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { createEntryHistory } from '../../../application/content/entry-history.ts';
import type { ContentChangeValue } from '../../../application/platform/content-change-message.ts';
import { createRelay } from '../../../application/platform/relay.ts';
import { contentChangesTopic, topics } from '../../../application/platform/topics.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import type { MessageBus } from '../../../application/ports/message-bus.ts';
import { refusal } from '../../../domain/errors.ts';
import type { NewEvent, RecordedEvent } from '../../../domain/event.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { openMemoryEventStore } from '../../../infrastructure/event-store/memory/memory-event-store.ts';
import { openInProcessBus } from '../../../infrastructure/message-bus/in-process/in-process-bus.ts';
import { createKafkaEventFeed } from '../../../infrastructure/message-bus/kafka-event-feed.ts';
import { createLeases } from '../../../infrastructure/postgres/leases.ts';
import { startFollower } from '../../../projections/engine/follower.ts';
import { requireService } from '../../support/adapters.ts';
import { useDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { openTestKafka, uniqueName } from '../../support/kafka.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { testMetadata } from '../../support/test-metadata.ts';

describe('events from the log through the relay to a worker', () => {
  describe('in process', () => {
    describeRelayFollower(() => Promise.resolve(openInProcessBus({ logger: recordingLogger() })));
  });
  describe('through Kafka', () => {
    const kafka = requireService('kafka');
    describeRelayFollower(() => openTestKafka({ brokers: kafka.address() }));
  });
});

/** Appends events, follows the log with the real engine, relays and consumes them. */
function describeRelayFollower(open: () => Promise<MessageBus>): void {
  const database = useDatabase();
  let bus: MessageBus;
  let eventStore: EventStore;
  before(async () => {
    bus = await open();
    eventStore = openMemoryEventStore();
  });
  after(async () => {
    await (bus as MessageBus | undefined)?.close();
  });

  it('arrive in the order of their stream although the broker fails and relays are replaced; content changes contain whole entries', async () => {
    const prefix = uniqueName('prefix');
    await bus.ensureTopics(topics(prefix));
    let failures = 3;
    const openPublisher: MessageBus['openPublisher'] = async (options) => {
      const publisher = await bus.openPublisher(options);
      return {
        ...publisher,
        async publish(messages) {
          await publisher.publish(messages);
          // The worst case: the broker has stored the messages and its answer is lost.
          if ((failures -= 1) >= 0) throw refusal('unavailable');
        },
      };
    };
    const relay = (owner: string) => {
      const history = createEntryHistory({ eventStore });
      return startFollower({
        name: 'relay',
        eventStore,
        leases: createLeases({ database: database.db(), owner, ttlMs: 1_000 }),
        database: database.db(),
        handler: {
          kind: 'steps',
          handle: createRelay({
            bus: { openPublisher },
            prefix,
            changeOf: (event) => history.changeOf(event),
            maxCharacters: 10_000,
          }),
        },
      });
    };
    const handled: RecordedEvent[] = [];
    const feed = await createKafkaEventFeed({ bus, prefix, eventStore }).start({
      worker: 'w',
      categories: ['entry'],
      handle: (events) => Promise.resolve(void handled.push(...events)),
    });
    const last = new Map<string, ContentChangeValue | null>();
    const changes = await bus.consume({
      topics: [contentChangesTopic(prefix)],
      group: uniqueName('group'),
      handler: ({ key, value }) =>
        Promise.resolve(void last.set(key, value === null ? null : (JSON.parse(value) as ContentChangeValue))),
    });

    const ids = Array.from({ length: 10 }, () => randomUUID());
    const first = relay('one');
    for (const id of ids) await append(id, 'EntryCreated', { fields: { title: 'a', n: 0 }, status: 'draft' });
    for (let n = 1; n <= 10; n += 1)
      await Promise.all(ids.map((id) => append(id, 'EntryFieldsChanged', { fields: { n } })));
    await eventually(() => {
      expect(handled.length).to.be.above(50);
    });
    await first.stop();
    const second = relay('two');
    await append(ids[0]!, 'EntryDeleted', {});
    await eventually(() => {
      expect(handled).to.have.length(111);
    });
    for (const id of ids)
      expect(
        handled.filter(({ stream }) => stream === `entry-acme.${id}`).map(({ revision }) => revision),
      ).to.deep.equal(Array.from({ length: id === ids[0] ? 12 : 11 }, (_, index) => index));
    await eventually(() => {
      expect(last.get(`acme/${ids[0]}`)).to.equal(null);
      expect(last.get(`acme/${ids[9]}`)?.data).to.deep.include({ title: 'a', n: 10, id: ids[9], status: 'draft' });
      expect(last.get(`acme/${ids[9]}`)?.old_data).to.deep.include({ title: 'a', n: 9 });
    });
    expect(failures).to.be.below(0);
    await second.stop();
    await feed.stop();
    await changes.stop();
  }).timeout(30_000);

  async function append(id: string, type: string, data: JsonObject): Promise<void> {
    const event: NewEvent = {
      id: randomUUID(),
      type,
      data: { type_id: 't1', schema: 'article', type_revision: 0, ...data },
      metadata: testMetadata({ tenant: 'acme', occurred_at: new Date().toISOString() }),
    };
    await eventStore.append(`entry-acme.${id}`, [event], { expected: 'any' });
  }
}
