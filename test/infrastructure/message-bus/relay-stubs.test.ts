import { expect } from 'chai';
import { ConfigResourceTypes } from 'kafkajs';
import { randomUUID } from 'node:crypto';
import { createEntryHistory } from '../../../application/content/entry-history.ts';
import type { EventStub } from '../../../application/platform/event-message.ts';
import { createRelay } from '../../../application/platform/relay.ts';
import { contentChangesTopic, eventsTopic, topics } from '../../../application/platform/topics.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import { type MessageBus, type ReceivedMessage, deadLetterTopic } from '../../../application/ports/message-bus.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { openMemoryEventStore } from '../../../infrastructure/event-store/memory/memory-event-store.ts';
import { readTopicLimits } from '../../../infrastructure/message-bus/kafka/topic-limits.ts';
import { createKafkaEventFeed } from '../../../infrastructure/message-bus/kafka-event-feed.ts';
import { createLeases } from '../../../infrastructure/postgres/leases.ts';
import { type Follower, startFollower } from '../../../projections/engine/follower.ts';
import { message } from '../../contract/message-bus-fixtures.ts';
import { requireService } from '../../support/adapters.ts';
import { useDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { everythingOn, openTestKafka, uniqueName, withKafkaAdmin } from '../../support/kafka.ts';
import { rejectionOf } from '../../support/rejection.ts';
import { testMetadata } from '../../support/test-metadata.ts';

const LARGE = 'x'.repeat(60_000);

describe('messages that a topic does not take', function () {
  this.timeout(30_000);
  const kafka = requireService('kafka');
  const database = useDatabase();
  let bus: MessageBus;
  let eventStore: EventStore;
  let follower: Follower | undefined;
  let prefix: string;
  let stubs: string[];
  let epochs: number;

  before(async () => {
    bus = await openTestKafka({ brokers: kafka.address() });
  });
  after(async () => {
    await (bus as MessageBus | undefined)?.close();
  });
  beforeEach(async () => {
    prefix = uniqueName('prefix');
    eventStore = openMemoryEventStore();
    stubs = [];
    epochs = 0;
    await bus.ensureTopics(topics(prefix));
  });
  afterEach(async () => {
    await follower?.stop();
    await database.db().query('truncate operational.leases, operational.checkpoints');
  });

  function startRelay(): void {
    const history = createEntryHistory({ eventStore });
    follower = startFollower({
      name: 'relay',
      eventStore,
      leases: createLeases({ database: database.db(), owner: randomUUID(), ttlMs: 1_000 }),
      database: database.db(),
      onMove: (_position, how) => {
        if (how === 'restarted') epochs += 1;
      },
      handler: {
        kind: 'steps',
        handle: createRelay({
          bus,
          prefix,
          changeOf: (event) => history.changeOf(event),
          metrics: { stubPublished: (topic, reason) => stubs.push(`${topic.slice(prefix.length)} ${reason}`) },
        }),
      },
    });
  }

  /** Sets the limit, and waits until the broker knows it: it learns changes of a topic some time after the answer. */
  async function limit(topic: string, bytes: number): Promise<void> {
    const type = ConfigResourceTypes.TOPIC;
    await withKafkaAdmin(kafka.address(), async (admin) => {
      await admin.alterConfigs({
        validateOnly: false,
        resources: [{ type, name: topic, configEntries: [{ name: 'max.message.bytes', value: String(bytes) }] }],
      });
      await eventually(async () => {
        expect((await readTopicLimits({ topics: [topic], type }, { admin })).get(topic)).to.equal(bytes);
      });
    });
  }

  async function append(id: string, fields: JsonObject, type = 'EntryFieldsChanged'): Promise<void> {
    await eventStore.append(
      `entry-acme.${id}`,
      [
        {
          id: randomUUID(),
          type,
          data: { type_id: 't1', schema: 'article', type_revision: 0, status: 'draft', fields },
          metadata: testMetadata({ tenant: 'acme', occurred_at: new Date().toISOString() }),
        },
      ],
      { expected: 'any' },
    );
  }

  /** Two entries with small changes around a large one. @returns the event with the large value */
  async function appendAround(): Promise<RecordedEvent> {
    const [id, other] = [randomUUID(), randomUUID()];
    await append(id, { n: 0 }, 'EntryCreated');
    await append(other, { n: 0 }, 'EntryCreated');
    await append(id, { body: LARGE });
    await append(other, { n: 1 });
    await append(id, { body: 'short' });
    await append(id, { n: 2 });
    for await (const event of eventStore.readStream(`entry-acme.${id}`, { from: 1, limit: 1 })) return event;
    throw new Error('no event');
  }

  /** The messages of a topic, and those of its dead-letter topic. */
  async function messagesOf(topic: string): Promise<readonly [readonly ReceivedMessage[], readonly ReceivedMessage[]]> {
    const all = await everythingOn([topic, deadLetterTopic(topic)], { bus });
    return [all.filter((message) => message.topic === topic), all.filter((message) => message.topic !== topic)];
  }

  const revisionsOf = (messages: readonly ReceivedMessage[], stream: string): unknown[] =>
    messages.filter(({ key }) => key === stream).map(({ value }) => (JSON.parse(value ?? '') as EventStub).revision);

  async function relayedAll(): Promise<void> {
    const head = await eventStore.head();
    await eventually(
      () => {
        expect(follower?.status().position).to.equal(head);
      },
      { timeoutMs: 15_000 },
    );
  }

  it('go out as stubs with a link, also to the dead-letter topic; all others go on in order, none twice', async () => {
    const topic = eventsTopic(prefix, 'entry');
    await limit(topic, 20_000);
    const large = await appendAround();
    const handled: RecordedEvent[] = [];
    const feed = await createKafkaEventFeed({ bus, prefix, eventStore }).start({
      worker: 'w',
      categories: ['entry'],
      handle: (events) => Promise.resolve(void handled.push(...events)),
    });
    startRelay();
    await relayedAll();
    await eventually(() => {
      expect(handled).to.have.length(6);
    });
    await feed.stop();
    const [sent, letters] = await messagesOf(topic);
    expect([sent.length, letters.length]).to.deep.equal([6, 1]);
    expect(revisionsOf(sent, large.stream)).to.deep.equal([0, 1, 2, 3]);
    const stub = sent.find(({ headers }) => headers['ce_id'] === large.id);
    const value = JSON.parse(stub?.value ?? '') as EventStub;
    expect(value).to.not.have.property('data');
    expect(value).to.include({ id: large.id, stream: large.stream, position: large.position, tenant: 'acme' });
    expect(value.stub).to.include({ reason: 'too_large', href: `/api/admin/audit/${large.id}` });
    expect(value.stub.bytes).to.be.within(60_000, 62_000);
    expect(stub?.headers).to.include({ ce_dataref: `/api/admin/audit/${large.id}`, ce_type: 'EntryFieldsChanged' });
    const [letter] = letters;
    expect(letter).to.include({ key: large.stream, value: stub?.value });
    expect(letter?.headers).to.include({ 'x-origin-topic': topic, 'x-error': 'too_large' });
    expect(handled.find(({ id }) => id === large.id)).to.deep.equal(large);
    expect(stubs).to.deep.equal(['.events.entry too_large']);
    expect(epochs).to.equal(1);
  });

  it('go out as stubs when only the broker knows that they are too large', async () => {
    startRelay();
    await append(randomUUID(), { n: 0 }, 'EntryCreated');
    await relayedAll();
    // The publisher is open and keeps the earlier limit.
    const topic = contentChangesTopic(prefix);
    await limit(topic, 20_000);
    await eventually(async () => {
      // The broker applies the limit some time after its answer.
      expect(await rejectionOf(bus.publish([message(topic, 'probe', LARGE)]))).to.include({ code: 'too_large' });
    });
    const large = await appendAround();
    await relayedAll();
    expect(revisionsOf((await messagesOf(eventsTopic(prefix, 'entry')))[0], large.stream)).to.deep.equal([0, 1, 2, 3]);
    const [sent, letters] = await messagesOf(topic);
    // The change after the large one has the large value as the old data.
    expect(letters).to.have.length(2);
    expect(stubs).to.deep.equal(['.content.changes too_large', '.content.changes too_large']);
    const changes = sent.filter(({ key }) => `entry-${key.replace('/', '.')}` === large.stream);
    expect(changes.map(({ value }) => (JSON.parse(value ?? '') as { version: number }).version)).to.deep.equal([
      1, 2, 3, 4,
    ]);
    expect(changes[1]?.headers['ce_dataref']).to.equal(`/api/admin/audit/${large.id}/change`);
    expect(JSON.parse(changes[1]?.value ?? '')).to.have.all.keys([
      'event_id',
      'event',
      'tenant',
      'schema',
      'entry_id',
      'version',
      'at',
      'stub',
    ]);
    expect(JSON.parse(changes[3]?.value ?? '')).to.deep.nested.include({ 'data.body': 'short', 'data.n': 2 });
  });
});
