import { expect } from 'chai';
import type {
  ChangedEntry,
  ContentChangeValue,
  PublishedChange,
} from '../../../application/platform/content-change-message.ts';
import { createRelay } from '../../../application/platform/relay.ts';
import { topics } from '../../../application/platform/topics.ts';
import { type Message, deadLetterTopic } from '../../../application/ports/message-bus.ts';
import { hasCode, refusal } from '../../../domain/errors.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import { openMemoryEventStore } from '../../../infrastructure/event-store/memory/memory-event-store.ts';
import { openInProcessBus } from '../../../infrastructure/message-bus/in-process/in-process-bus.ts';
import { createKafkaEventFeed } from '../../../infrastructure/message-bus/kafka-event-feed.ts';
import { eventually } from '../../support/eventually.ts';
import { recordedEvent, recordedEvents } from '../../support/recorded-events.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { rejectionOf } from '../../support/rejection.ts';
import { busOf, relayAll, underLease } from '../../support/relay.ts';

const entry: ChangedEntry = {
  id: 'e1',
  schema: 'article',
  fields: { title: 'Old', body: null },
  status: 'draft',
  slug: 'old',
  version: 1,
  deleted: false,
};
const noChange = (): Promise<PublishedChange> => Promise.resolve({});

describe('the relay', () => {
  /** The messages that the relay publishes for one event. */
  async function messagesOf(event: RecordedEvent, change: PublishedChange = {}): Promise<Message[]> {
    const sent: Message[] = [];
    const relay = createRelay({
      bus: busOf((messages) => Promise.resolve(void sent.push(...messages))),
      prefix: 'p',
      changeOf: () => Promise.resolve(change),
    });
    await relay([event], underLease());
    return sent;
  }
  const changeIn = (messages: readonly Message[]): ContentChangeValue =>
    JSON.parse(messages[1]?.value ?? 'null') as ContentChangeValue;

  it('publishes an audit signature also to a topic that keeps it, under a key of its own', async () => {
    const sealed = (jws: string): RecordedEvent =>
      recordedEvent({ type: 'AuditSealed', stream: 'audit-acme.seals', data: { jws } });
    const sent = await messagesOf(sealed('a.b.c'));
    expect(sent.map(({ topic }) => topic)).to.deep.equal(['p.events.audit', 'p.audit.signatures']);
    expect(JSON.parse(sent[1]?.value ?? 'null')).to.deep.equal({
      tenant: 'acme',
      position: '00000000000000000001',
      jws: 'a.b.c',
    });
    expect((await messagesOf(sealed('a.b.d')))[1]?.key).to.not.equal(sent[1]?.key);
    expect(topics('p')).to.deep.include({ topic: 'p.audit.signatures', partitions: 1, compacted: true });
  });

  describe('content changes', () => {
    it('contain the whole new entry, with tenant and entry id as key', async () => {
      const sent = await messagesOf(recordedEvent(), { after: entry });
      expect(sent.map(({ topic, key }) => [topic, key])).to.deep.equal([
        ['p.events.entry', 'entry-acme.01890000-0000-7000-8000-0000000000aa'],
        ['p.content.changes', 'acme/e1'],
      ]);
      expect(changeIn(sent)).to.deep.equal({
        event_id: '01890000-0000-7000-8000-000000000001',
        event: 'after_create',
        tenant: 'acme',
        schema: 'article',
        entry_id: 'e1',
        version: 1,
        at: '2026-01-02T03:04:05.000Z',
        data: { title: 'Old', body: null, id: 'e1', status: 'draft', slug: 'old' },
        old_data: null,
      });
      expect(sent[1]?.headers).to.include({
        ce_id: '01890000-0000-7000-8000-000000000001',
        ce_type: 'content.after_create',
        tenant: 'acme',
        schema_version: '1',
      });
    });

    it('contain the entry before and after a change', async () => {
      const after = { ...entry, fields: { title: 'New', body: null }, status: 'published' as const, slug: undefined };
      const sent = await messagesOf(recordedEvent({ type: 'EntryFieldsChanged', revision: 4 }), {
        before: entry,
        after,
      });
      expect(changeIn(sent)).to.include({ event: 'after_update', version: 5 });
      expect(changeIn(sent).data).to.deep.equal({ title: 'New', body: null, id: 'e1', status: 'published' });
      expect(changeIn(sent).old_data).to.deep.equal({
        title: 'Old',
        body: null,
        id: 'e1',
        status: 'draft',
        slug: 'old',
      });
    });

    it('contain a deleted entry as it was before, followed by a null value', async () => {
      const sent = await messagesOf(recordedEvent({ type: 'EntryDeleted', revision: 1 }), {
        before: entry,
        after: { ...entry, deleted: true },
      });
      expect(changeIn(sent)).to.include({ event: 'after_delete', data: null });
      expect(changeIn(sent).old_data).to.include({ title: 'Old', id: 'e1' });
      expect(sent).to.have.length(3);
      expect(sent[2]).to.include({ topic: 'p.content.changes', key: 'acme/e1', value: null });
    });

    it('are published only for entry events', async () => {
      expect(await messagesOf(recordedEvent({ stream: 'user-default.u1' }), { after: entry })).to.have.length(1);
    });
  });

  it('publishes events in order and reads the changes of an entry in order', async () => {
    const sent: Message[] = [];
    const read: string[] = [];
    const relay = createRelay({
      bus: busOf((messages) => Promise.resolve(void sent.push(...messages))),
      prefix: 'p',
      async changeOf(event) {
        await new Promise(setImmediate);
        read.push(`${event.stream}/${event.revision}`);
        return { after: { ...entry, id: event.stream } };
      },
    });
    const events = recordedEvents(250, 7);
    await relayAll(events, relay);
    expect(sent.filter(({ topic }) => topic === 'p.events.entry').map(({ headers }) => headers['ce_id'])).to.deep.equal(
      events.map(({ id }) => id),
    );
    expect(sent).to.have.length(500);
    for (let stream = 0; stream < 7; stream += 1) {
      const revisions = read
        .filter((name) => name.startsWith(`entry-acme.entry${stream}/`))
        .map((name) => Number(name.split('/')[1]));
      expect(revisions).to.deep.equal([...revisions].sort((a, b) => a - b));
    }
  });

  it('publishes sealed values sealed', async () => {
    const sealed = { $sealed: 1, k: 'k1', n: 'nonce', c: 'cipher' };
    const [sent] = await messagesOf(recordedEvent({ stream: 'user-default.u1', data: { email: sealed } }));
    expect((JSON.parse(sent?.value ?? '') as { data: unknown }).data).to.deep.equal({ email: sealed });
  });

  it('fails when the broker refuses the messages, so that the checkpoint does not move', async () => {
    const relay = createRelay({
      bus: busOf(() => Promise.reject(refusal('unavailable'))),
      prefix: 'p',
      changeOf: noChange,
    });
    expect(
      await relay([recordedEvent()], underLease()).then(
        () => 'ok',
        (error: unknown) => String(error),
      ),
    ).to.equal('AppError: service unavailable');
  });

  it('stops publishing when its lease is lost', async () => {
    let published = 0;
    const lease = new AbortController();
    const relay = createRelay({
      bus: busOf((messages) => {
        published += messages.length;
        lease.abort();
        return Promise.resolve();
      }),
      prefix: 'p',
      changeOf: noChange,
      maxCharacters: 10_000,
    });
    expect(
      await relayAll(recordedEvents(1_000, 3), relay, underLease({ signal: lease.signal })).then(
        () => 'ok',
        () => 'ended',
      ),
    ).to.equal('ended');
    expect(published).to.be.below(1_000);
  });

  describe('with a limit of its size', () => {
    it('publishes 2,000 events of 250 KB in parts, and holds few of them', async () => {
      const maxCharacters = 4_000_000;
      const sent: number[] = [];
      let inHand = 0;
      let most = 0;
      const body = 'x'.repeat(250_000);
      const relay = createRelay({
        bus: busOf((messages) => {
          sent.push(messages.reduce((sum, { value }) => sum + (value?.length ?? 0), 0));
          inHand = 0;
          return Promise.resolve();
        }),
        prefix: 'p',
        maxCharacters,
        async changeOf(event) {
          await new Promise(setImmediate);
          inHand += 1;
          most = Math.max(most, inHand);
          return { before: entry, after: { ...entry, id: event.stream, fields: { body } } };
        },
      });
      const events = recordedEvents(2_000, 50).map((event) => ({ ...event, data: { body } }));
      const steps = await relayAll(events, relay);
      expect(steps.reduce((sum, count) => sum + count, 0)).to.equal(2_000);
      expect(Math.max(...sent)).to.be.below(2 * maxCharacters);
      expect(most).to.be.below(20);
    }).timeout(20_000);

    it('publishes an event that is larger than the limit alone', async () => {
      const relay = createRelay({
        bus: busOf(() => Promise.resolve()),
        prefix: 'p',
        changeOf: noChange,
        maxCharacters: 10,
      });
      expect(await relayAll(recordedEvents(3, 1), relay)).to.deep.equal([1, 1, 1]);
    });
  });

  describe('when the broker refuses a message permanently', () => {
    /** A relay whose broker refuses some messages and stores the others. */
    function refusing(isRefused: (message: Message) => boolean, code: 'too_large' | 'message_refused') {
      const stored: Message[] = [];
      const reported: string[] = [];
      const relay = createRelay({
        bus: busOf((messages) => {
          if (messages.some(isRefused)) return Promise.reject(refusal(code));
          return Promise.resolve(void stored.push(...messages));
        }),
        prefix: 'p',
        changeOf: noChange,
        metrics: { stubPublished: (topic, reason) => reported.push(`${topic} ${reason}`) },
      });
      return { relay, stored, reported };
    }
    const onTopic = (messages: readonly Message[]) => messages.filter(({ topic }) => topic === 'p.events.entry');

    it('publishes a stub of it, and all others once and in order', async () => {
      const events = recordedEvents(300, 7);
      const bad = new Set([events[0]?.id, events[42]?.id, events[43]?.id, events[299]?.id]);
      const { relay, stored, reported } = refusing(
        ({ headers, value }) => bad.has(headers['ce_id']) && value?.includes('"stub"') !== true,
        'message_refused',
      );
      expect(await relayAll(events, relay)).to.deep.equal([300]);
      expect(onTopic(stored).map(({ headers }) => headers['ce_id'])).to.deep.equal(events.map(({ id }) => id));
      expect(stored.filter(({ headers }) => headers['ce_dataref'] !== undefined)).to.have.length(8);
      expect(reported).to.deep.equal(Array.from({ length: 4 }, () => 'p.events.entry refused'));
    });

    it('waits when the topic refuses the stub as well', async () => {
      const { relay, stored } = refusing(({ topic }) => topic === 'p.events.entry', 'too_large');
      const error = await rejectionOf(relay([recordedEvent()], underLease()));
      expect(String(error)).to.equal('AppError: the topic p.events.entry refuses messages');
      expect(hasCode(error, 'unavailable')).to.equal(true);
      expect(stored).to.deep.equal([]);
    });
  });

  it('opens a publisher per lease, and another one after an error', async () => {
    let opened = 0;
    let fails = false;
    const publisher = busOf(() => (fails ? Promise.reject(refusal('unavailable')) : Promise.resolve()));
    const relay = createRelay({
      bus: {
        openPublisher(options) {
          opened += 1;
          return publisher.openPublisher(options);
        },
      },
      prefix: 'p',
      changeOf: noChange,
    });
    await relay([recordedEvent()], underLease({ epoch: 1 }));
    await relay([recordedEvent()], underLease({ epoch: 1 }));
    expect(opened).to.equal(1);
    await relay([recordedEvent()], underLease({ epoch: 2 }));
    expect(opened).to.equal(2);
    fails = true;
    await rejectionOf(relay([recordedEvent()], underLease({ epoch: 2 })));
    fails = false;
    await relay([recordedEvent()], underLease({ epoch: 2 }));
    expect(opened).to.equal(3);
  });

  it('publishes nothing when its lease was taken before its publisher was open', async () => {
    const sent: Message[] = [];
    const relay = createRelay({
      bus: busOf((messages) => Promise.resolve(void sent.push(...messages))),
      prefix: 'p',
      changeOf: noChange,
    });
    const { signal } = underLease();
    const lost = { signal, lease: { epoch: 1, isHeld: () => Promise.resolve(false) } };
    expect(hasCode(await rejectionOf(relay([recordedEvent()], lost)), 'lease_lost')).to.equal(true);
    expect(sent).to.deep.equal([]);
  });

  it('publishes events again after a crash before the checkpoint, and consumers drop the duplicates', async () => {
    const bus = openInProcessBus({ logger: recordingLogger() });
    await bus.ensureTopics(topics('p'));
    const events = recordedEvents(60, 5);
    const sent: Message[] = [];
    const relay = createRelay({
      bus: busOf(async (messages) => {
        await bus.publish(messages);
        sent.push(...messages);
      }),
      prefix: 'p',
      changeOf: noChange,
    });
    const handled: RecordedEvent[] = [];
    const feed = await createKafkaEventFeed({ bus, prefix: 'p', eventStore: openMemoryEventStore() }).start({
      worker: 'webhooks',
      categories: ['entry'],
      handle: (batch) => Promise.resolve(void handled.push(...batch)),
    });
    let checkpoint = 0;
    for (let run = 0; checkpoint < events.length; run += 1) {
      const batch = events.slice(checkpoint, checkpoint + 20);
      await relayAll(batch, relay);
      // Every other run crashes here, before the checkpoint moves; the next run publishes the same batch.
      if (run % 2 === 1) checkpoint += batch.length;
    }
    expect(sent).to.have.length(120);
    await eventually(() => {
      expect(handled).to.have.length(60);
    });
    for (let stream = 0; stream < 5; stream += 1) {
      expect(handled.filter((event) => event.stream === `entry-acme.entry${stream}`)).to.deep.equal(
        events.filter((event) => event.stream === `entry-acme.entry${stream}`),
      );
    }
    await feed.stop();
    await bus.close();
    expect(handled).to.have.length(60);
  });

  it('lets consumers move an unreadable message to the dead-letter topic and continue', async () => {
    const bus = openInProcessBus({ logger: recordingLogger() });
    const [topic] = topics('p');
    if (!topic) throw new Error('no topics');
    await bus.ensureTopics(topics('p'));
    const handled: string[] = [];
    const letters: string[] = [];
    await createKafkaEventFeed({ bus, prefix: 'p', eventStore: openMemoryEventStore() }).start({
      worker: 'w',
      categories: ['entry'],
      handle: ([event]) => Promise.resolve(void handled.push(event?.id ?? '')),
    });
    await bus.consume({
      topics: [deadLetterTopic('p.events.entry')],
      group: 'letters',
      handler: ({ headers }) => Promise.resolve(void letters.push(headers['x-error'] ?? '')),
    });
    await bus.publish([{ topic: 'p.events.entry', key: 'k', value: 'nonsense', headers: {} }]);
    await createRelay({ bus, prefix: 'p', changeOf: noChange })([recordedEvent()], underLease());
    await eventually(() => {
      expect([handled.length, letters]).to.deep.equal([1, ['AppError: the message is not JSON']]);
    });
    await bus.close();
  });
});

describe('the Kafka topics', () => {
  it('are one for each category, and compacted ones for content changes and audit signatures', () => {
    const all = topics('palimpsest');
    expect(all.map(({ topic }) => topic)).to.include.members([
      'palimpsest.events.entry',
      'palimpsest.events.flow_run',
      'palimpsest.content.changes',
    ]);
    expect(all.filter(({ compacted }) => compacted).map(({ topic }) => topic)).to.deep.equal([
      'palimpsest.content.changes',
      'palimpsest.audit.signatures',
    ]);
  });
});
