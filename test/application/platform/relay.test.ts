import { expect } from 'chai';
import type {
  ChangedEntry,
  ContentChangeValue,
  PublishedChange,
} from '../../../application/platform/content-change-message.ts';
import { createRelay } from '../../../application/platform/relay.ts';
import { topics } from '../../../application/platform/topics.ts';
import { type Message, deadLetterTopic } from '../../../application/ports/message-bus.ts';
import { refusal } from '../../../domain/errors.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import { openInProcessBus } from '../../../infrastructure/message-bus/in-process/in-process-bus.ts';
import { createKafkaEventFeed } from '../../../infrastructure/message-bus/kafka-event-feed.ts';
import { eventually } from '../../support/eventually.ts';
import { recordedEvent, recordedEvents } from '../../support/recorded-events.ts';
import { recordingLogger } from '../../support/recording-logger.ts';

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
      bus: { publish: (messages) => Promise.resolve(void sent.push(...messages)) },
      prefix: 'p',
      changeOf: () => Promise.resolve(change),
    });
    await relay([event]);
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
      bus: { publish: (messages) => Promise.resolve(void sent.push(...messages)) },
      prefix: 'p',
      async changeOf(event) {
        await new Promise(setImmediate);
        read.push(`${event.stream}/${event.revision}`);
        return { after: { ...entry, id: event.stream } };
      },
    });
    const events = recordedEvents(250, 7);
    await relay(events);
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
      bus: { publish: () => Promise.reject(refusal('unavailable')) },
      prefix: 'p',
      changeOf: noChange,
    });
    expect(
      await relay([recordedEvent()]).then(
        () => 'ok',
        (error: unknown) => String(error),
      ),
    ).to.equal('AppError: service unavailable');
  });

  it('stops publishing when its lease is lost', async () => {
    let published = 0;
    const lease = new AbortController();
    const relay = createRelay({
      bus: {
        publish(messages) {
          published += messages.length;
          lease.abort();
          return Promise.resolve();
        },
      },
      prefix: 'p',
      changeOf: noChange,
    });
    expect(
      await relay(recordedEvents(1_000, 3), lease.signal).then(
        () => 'ok',
        () => 'ended',
      ),
    ).to.equal('ended');
    expect(published).to.be.below(1_000);
  });

  it('publishes events again after a crash before the checkpoint, and consumers drop the duplicates', async () => {
    const bus = openInProcessBus({ logger: recordingLogger() });
    await bus.ensureTopics(topics('p'));
    const events = recordedEvents(60, 5);
    const sent: Message[] = [];
    const relay = createRelay({
      bus: {
        async publish(messages) {
          await bus.publish(messages);
          sent.push(...messages);
        },
      },
      prefix: 'p',
      changeOf: noChange,
    });
    const handled: RecordedEvent[] = [];
    const feed = await createKafkaEventFeed({ bus, prefix: 'p' }).start({
      worker: 'webhooks',
      categories: ['entry'],
      handle: (batch) => Promise.resolve(void handled.push(...batch)),
    });
    let checkpoint = 0;
    for (let run = 0; checkpoint < events.length; run += 1) {
      const batch = events.slice(checkpoint, checkpoint + 20);
      await relay(batch);
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
    await createKafkaEventFeed({ bus, prefix: 'p' }).start({
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
    await createRelay({ bus, prefix: 'p', changeOf: noChange })([recordedEvent()]);
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
