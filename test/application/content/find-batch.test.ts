import { expect } from 'chai';
import { v7 } from 'uuid';
import { findBatch } from '../../../application/content/find-batch.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import type { NewEvent } from '../../../domain/event.ts';
import { openMemoryEventStore } from '../../../infrastructure/event-store/memory/memory-event-store.ts';
import { testMetadata } from '../../support/test-metadata.ts';

const { signal } = new AbortController();

async function append(store: EventStore, stream: string, given: Partial<NewEvent['metadata']> = {}): Promise<void> {
  const metadata = testMetadata({ actor: { kind: 'api_key', id: 'k1' }, ...given });
  await store.append(stream, [{ id: v7(), type: 'EntryDeleted', data: {}, metadata }], { expected: 'any' });
}

describe('finding a batch', () => {
  it("lists the entries written last first, and counts the events that are not an entry's", async () => {
    const store = openMemoryEventStore();
    for (const stream of ['entry-default.a', 'entry-default.b', 'content_type-default.t', 'entry-default.a'])
      await append(store, stream);
    await append(store, 'entry-default.c', { $correlationId: 'another' });
    await append(store, 'entry-acme.d', { tenant: 'acme' });
    const batch = await findBatch(
      { tenant: 'default', selector: { kind: 'correlation', correlationId: 'c' }, signal },
      { eventStore: store },
    );
    expect([batch.streams, batch.events, batch.notUndoableCount]).to.deep.equal([
      ['entry-default.a', 'entry-default.b'],
      4,
      1,
    ]);
    expect(batch.notUndoable[0]).to.include({ kind: 'content_type', id: 't' });
  });

  it('finds the events of a key in a period, both ends included', async () => {
    const store = openMemoryEventStore({ now: () => new Date('2026-01-01T00:00:05.000Z') });
    for (const second of [1, 2, 3, 4])
      await append(store, `entry-default.${second}`, { occurred_at: `2026-01-01T00:00:0${second}.000Z` });
    await append(store, 'entry-default.other', {
      actor: { kind: 'api_key', id: 'k2' },
      occurred_at: '2026-01-01T00:00:02.000Z',
    });
    await append(store, 'entry-default.person', {
      actor: { kind: 'user', id: 'k1' },
      occurred_at: '2026-01-01T00:00:02.000Z',
    });
    const selector = {
      kind: 'api_key',
      keyId: 'k1',
      from: '2026-01-01T00:00:02.000Z',
      to: '2026-01-01T00:00:03.000Z',
    } as const;
    expect((await findBatch({ tenant: 'default', selector, signal }, { eventStore: store })).streams).to.deep.equal([
      'entry-default.3',
      'entry-default.2',
    ]);
  });

  it('reads back no further than the beginning of the period', async () => {
    let now = new Date('2026-01-01T00:00:00.000Z');
    const store = openMemoryEventStore({ now: () => now });
    for (let at = 0; at < 50; at += 1) await append(store, `entry-default.${at}`);
    now = new Date('2026-03-01T00:00:00.000Z');
    await append(store, 'entry-default.late', { occurred_at: now.toISOString() });
    let read = 0;
    const counting: EventStore = {
      ...store,
      async *readAll(options) {
        for await (const event of store.readAll(options)) {
          read += 1;
          yield event;
        }
      },
    };
    const selector = { kind: 'api_key', keyId: 'k1', from: now.toISOString(), to: now.toISOString() } as const;
    expect((await findBatch({ tenant: 'default', selector, signal }, { eventStore: counting })).streams).to.deep.equal([
      'entry-default.late',
    ]);
    expect(read).to.equal(2);
  });

  it('accepts ten thousand entries and refuses more', async () => {
    const store = openMemoryEventStore();
    for (let at = 0; at < 10_000; at += 1) await append(store, `entry-default.${at}`);
    const find = () =>
      findBatch(
        { tenant: 'default', selector: { kind: 'correlation', correlationId: 'c' }, signal },
        { eventStore: store },
      );
    expect((await find()).streams).to.have.length(10_000);
    await append(store, 'entry-default.more');
    expect(
      await find().then(
        () => 'found',
        (error: unknown) => (error as { code?: string }).code,
      ),
    ).to.equal('undo_too_large');
  });
});
