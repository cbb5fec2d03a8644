import { expect } from 'chai';
import { v7 as uuidv7 } from 'uuid';
import type { EventFilter } from '../../application/ports/event-store.ts';
import { type GlobalPosition, ORIGIN } from '../../domain/event.ts';
import type { ContractContext } from './event-store-context.ts';
import {
  appendEach,
  collect,
  idsOf,
  newEvent,
  newEvents,
  newLargeEvents,
  newStream,
  newTenant,
  positionsOf,
  revisionsOf,
} from './event-store-fixtures.ts';

/** Reads of one stream, of the whole log, and of its head. */
export function readCases(context: ContractContext): void {
  const { store } = context;

  describe('readStream', () => {
    async function written(count: number) {
      const stream = newStream();
      await store().append(stream, newEvents(count), { expected: 'no_stream' });
      return stream;
    }
    const revisions = async (stream: string, options: Parameters<ReturnType<typeof store>['readStream']>[1] = {}) =>
      revisionsOf(await collect(store().readStream(stream, options)));

    it('is empty for a missing stream', async () => {
      expect(await revisions(newStream())).to.deep.equal([]);
    });

    it('is empty for a missing stream read backwards', async () => {
      expect(await revisions(newStream(), { direction: 'backwards' })).to.deep.equal([]);
    });

    it('reads forwards from the first event', async () => {
      expect(await revisions(await written(4))).to.deep.equal([0, 1, 2, 3]);
    });

    it('reads backwards from the last event', async () => {
      expect(await revisions(await written(4), { direction: 'backwards' })).to.deep.equal([3, 2, 1, 0]);
    });

    it('reads forwards from a revision, inclusive', async () => {
      expect(await revisions(await written(4), { from: 2 })).to.deep.equal([2, 3]);
    });

    it('reads backwards from a revision, inclusive', async () => {
      expect(await revisions(await written(4), { from: 2, direction: 'backwards' })).to.deep.equal([2, 1, 0]);
    });

    it('returns nothing forwards from a revision after the last one', async () => {
      expect(await revisions(await written(4), { from: 4 })).to.deep.equal([]);
    });

    it('reads backwards from the last event when the revision is after it', async () => {
      expect(await revisions(await written(3), { from: 10, direction: 'backwards' })).to.deep.equal([2, 1, 0]);
    });

    it('returns at most `limit` events', async () => {
      expect(await revisions(await written(5), { limit: 2 })).to.deep.equal([0, 1]);
    });

    it('returns at most `limit` events backwards', async () => {
      expect(await revisions(await written(5), { limit: 2, direction: 'backwards' })).to.deep.equal([4, 3]);
    });

    it('reads all of many large events, in both directions', async () => {
      const stream = newStream();
      for (let n = 0; n < 6; n += 1) await store().append(stream, newLargeEvents(3), { expected: 'any' });
      const all = Array.from({ length: 18 }, (_, revision) => revision);
      expect(await revisions(stream, {})).to.deep.equal(all);
      expect(await revisions(stream, { direction: 'backwards' })).to.deep.equal(all.toReversed());
      expect(await revisions(stream, { limit: 17 })).to.deep.equal(all.slice(0, 17));
    });

    it('reads `limit` events from a revision in the middle', async () => {
      expect(await revisions(await written(6), { from: 1, limit: 3 })).to.deep.equal([1, 2, 3]);
    });

    it('returns nothing with a limit of 0', async () => {
      expect(await revisions(await written(2), { limit: 0 })).to.deep.equal([]);
    });

    it('reads a stream of several pages', async () => {
      const stream = await written(1500);
      await store().append(stream, newEvents(1000), { expected: 1499 });
      expect(await revisions(stream)).to.deep.equal(Array.from({ length: 2500 }, (_, n) => n));
    });

    it('reads a stream of several pages backwards', async () => {
      const stream = await written(1500);
      await store().append(stream, newEvents(1000), { expected: 1499 });
      expect(await revisions(stream, { direction: 'backwards' })).to.deep.equal(
        Array.from({ length: 2500 }, (_, n) => 2499 - n),
      );
    });

    it('does not return events of a stream whose name has the same beginning', async () => {
      const stream = await written(1);
      await store().append(`${stream}x`, newEvents(2), { expected: 'no_stream' });
      expect(await revisions(stream)).to.deep.equal([0]);
    });

    it('stops when the caller stops iterating', async () => {
      const stream = await written(10);
      const seen: number[] = [];
      for await (const { revision } of store().readStream(stream)) {
        seen.push(revision);
        if (revision === 2) break;
      }
      expect(seen).to.deep.equal([0, 1, 2]);
    });
  });

  describe('readAll', () => {
    it('returns the events after a position, in the order of their appends', async () => {
      const after = await store().head();
      const streams = [newStream(), newStream('media'), newStream('user')];
      for (const stream of streams) await store().append(stream, newEvents(2), { expected: 'no_stream' });
      const events = await collect(store().readAll({ after }));
      expect(events.map(({ stream }) => stream)).to.deep.equal(streams.flatMap((stream) => [stream, stream]));
      expect(positionsOf(events)).to.deep.equal(positionsOf(events).toSorted());
    });

    it('excludes the event at the start position', async () => {
      const [first] = await appendEach(store(), newStream(), newEvents(3));
      expect(revisionsOf(await collect(store().readAll({ after: first!.position })))).to.deep.equal([1, 2]);
    });

    it('reads from the origin', async () => {
      const stream = newStream();
      await store().append(stream, [newEvent()], { expected: 'no_stream' });
      const all = await collect(store().readAll({ after: ORIGIN }));
      expect(all.at(-1)?.stream).to.equal(stream);
      expect(positionsOf(all)).to.deep.equal(positionsOf(await collect(store().readAll())));
    });

    it('gives each event its own position', async () => {
      const positions = positionsOf(await collect(store().readAll()));
      expect(new Set(positions).size).to.equal(positions.length);
    });

    it('reads backwards from the head', async () => {
      await store().append(newStream(), newEvents(3), { expected: 'no_stream' });
      expect(revisionsOf(await collect(store().readAll({ direction: 'backwards', limit: 3 })))).to.deep.equal([
        2, 1, 0,
      ]);
    });

    it('excludes the event at the start position backwards', async () => {
      const results = await appendEach(store(), newStream(), newEvents(3));
      expect(
        revisionsOf(await collect(store().readAll({ direction: 'backwards', after: results[2]!.position, limit: 2 }))),
      ).to.deep.equal([1, 0]);
    });

    it('returns nothing backwards from the origin', async () => {
      expect(await collect(store().readAll({ direction: 'backwards', after: ORIGIN }))).to.deep.equal([]);
    });

    it('returns at most `limit` events', async () => {
      const after = await store().head();
      await store().append(newStream(), newEvents(5), { expected: 'no_stream' });
      expect(revisionsOf(await collect(store().readAll({ after, limit: 2 })))).to.deep.equal([0, 1]);
    });

    it('reads all of many large events of the log, in both directions', async () => {
      const after = await store().head();
      const stream = newStream();
      for (let n = 0; n < 6; n += 1) await store().append(stream, newLargeEvents(3), { expected: 'any' });
      const all = Array.from({ length: 18 }, (_, revision) => revision);
      expect(revisionsOf(await collect(store().readAll({ after })))).to.deep.equal(all);
      const back = await collect(store().readAll({ direction: 'backwards', limit: 18 }));
      expect(revisionsOf(back)).to.deep.equal(all.toReversed());
    });

    it('pages through the log without loss or repetition', async () => {
      const after = await store().head();
      await store().append(newStream(), newEvents(25), { expected: 'no_stream' });
      const seen: number[] = [];
      let from: GlobalPosition = after;
      for (;;) {
        const page = await collect(store().readAll({ after: from, limit: 7 }));
        if (page.length === 0) break;
        seen.push(...revisionsOf(page));
        from = page.at(-1)!.position;
      }
      expect(seen).to.deep.equal(Array.from({ length: 25 }, (_, n) => n));
    });

    it('returns the same events as `readStream`', async () => {
      const after = await store().head();
      const stream = newStream();
      await store().append(stream, newEvents(3), { expected: 'no_stream' });
      expect(await collect(store().readAll({ after }))).to.deep.equal(await collect(store().readStream(stream)));
    });

    it('returns nothing after the head, and later events on the next read', async () => {
      const after = await store().head();
      expect(await collect(store().readAll({ after }))).to.deep.equal([]);
      await store().append(newStream(), [newEvent()], { expected: 'no_stream' });
      expect(await collect(store().readAll({ after }))).to.have.length(1);
    });

    it('skips no event under concurrent appends', async () => {
      const start = await store().head();
      let after = start;
      let writing = true;
      const seen: string[] = [];
      const revisions = new Map<string, number>();
      const readOn = async () => {
        for await (const event of store().readAll({ after })) {
          expect(event.revision).to.equal((revisions.get(event.stream) ?? -1) + 1);
          revisions.set(event.stream, event.revision);
          seen.push(event.id);
          after = event.position;
        }
      };
      const reading = (async () => {
        while (writing) await readOn();
        await readOn();
      })();
      await Promise.all(Array.from({ length: 16 }, () => appendEach(store(), newStream(), newEvents(25))));
      writing = false;
      await reading;
      expect(seen).to.have.length(400);
      expect(seen).to.deep.equal(idsOf(await collect(store().readAll({ after: start }))));
    });
  });

  describe('readAll with a filter', () => {
    async function matching(filter: EventFilter, direction: 'forwards' | 'backwards' = 'forwards', limit?: number) {
      const tenant = newTenant();
      const correlationId = uuidv7();
      const after = await store().head();
      await store().append(
        newStream('entry', tenant),
        [newEvent({ tenant, type: 'EntryCreated' }), newEvent({ tenant, type: 'EntryDeleted', correlationId })],
        { expected: 'any' },
      );
      await store().append(newStream('media', tenant), [newEvent({ tenant, type: 'MediaUploaded', correlationId })], {
        expected: 'any',
      });
      await store().append(
        newStream('entry'),
        [newEvent({ type: 'EntryCreated' }), newEvent({ type: 'EntryPublished' })],
        { expected: 'any' },
      );
      const bound = {
        ...filter,
        ...(filter.tenant === undefined ? {} : { tenant }),
        ...(filter.correlationId === undefined ? {} : { correlationId }),
      };
      const events = await collect(
        store().readAll({
          ...(direction === 'forwards' ? { after } : {}),
          direction,
          filter: bound,
          ...(limit === undefined ? {} : { limit }),
        }),
      );
      return events.map(({ type }) => type);
    }

    it('reads the events of one category', async () => {
      expect(await matching({ categories: ['media'] })).to.deep.equal(['MediaUploaded']);
    });

    it('reads the events of several categories', async () => {
      expect(await matching({ categories: ['media', 'entry'] })).to.have.length(5);
    });

    it('reads the events of one type', async () => {
      expect(await matching({ types: ['EntryPublished'] })).to.deep.equal(['EntryPublished']);
    });

    it('reads the events of several types', async () => {
      expect(await matching({ types: ['EntryPublished', 'EntryDeleted'] })).to.deep.equal([
        'EntryDeleted',
        'EntryPublished',
      ]);
    });

    it('reads the events of one tenant', async () => {
      expect(await matching({ tenant: 'own' })).to.deep.equal(['EntryCreated', 'EntryDeleted', 'MediaUploaded']);
    });

    it('reads the events of one correlation', async () => {
      expect(await matching({ correlationId: 'own' })).to.deep.equal(['EntryDeleted', 'MediaUploaded']);
    });

    it('reads the events of one actor, of any kind', async () => {
      const actor = uuidv7();
      const after = await store().head();
      const event = newEvent({ type: 'EntryDeleted' });
      const acted = { ...event, metadata: { ...event.metadata, actor: { kind: 'api_key' as const, id: actor } } };
      await store().append(newStream(), [newEvent(), acted, newEvent()], { expected: 'any' });
      const events = await collect(store().readAll({ after, filter: { actor } }));
      expect(events.map(({ type, metadata }) => [type, metadata.actor.id])).to.deep.equal([['EntryDeleted', actor]]);
    });

    it('returns only events that match every part of the filter', async () => {
      expect(
        await matching({ tenant: 'own', categories: ['entry'], types: ['EntryCreated', 'MediaUploaded'] }),
      ).to.deep.equal(['EntryCreated']);
    });

    it('returns matching events backwards', async () => {
      expect(await matching({ tenant: 'own' }, 'backwards')).to.deep.equal([
        'MediaUploaded',
        'EntryDeleted',
        'EntryCreated',
      ]);
    });

    it('counts only matching events towards the limit', async () => {
      expect(await matching({ tenant: 'own' }, 'backwards', 2)).to.deep.equal(['MediaUploaded', 'EntryDeleted']);
    });

    it('returns every event with an empty filter', async () => {
      expect(await matching({})).to.have.length(5);
    });

    it('returns nothing with an empty list of categories', async () => {
      expect(await matching({ categories: [] })).to.deep.equal([]);
    });

    it('matches whole category names only', async () => {
      const after = await store().head();
      await store().append(newStream('content_type'), [newEvent()], { expected: 'any' });
      expect(await collect(store().readAll({ after, filter: { categories: ['content'] } }))).to.deep.equal([]);
    });
  });

  describe('findEvent', () => {
    it('finds an event by its id', async () => {
      const stream = newStream();
      const events = newEvents(3);
      await store().append(stream, events, { expected: 'no_stream' });
      const [, second] = await collect(store().readStream(stream));
      expect(await store().findEvent(events[1]!.id)).to.deep.equal(second);
    });

    it('returns undefined for an unknown id', async () => {
      expect(await store().findEvent(uuidv7())).to.equal(undefined);
    });

    it('returns undefined for an invalid id', async () => {
      expect(await store().findEvent(`' or 1=1`)).to.equal(undefined);
    });

    it('returns undefined for the events of a refused append', async () => {
      const event = newEvent();
      await store()
        .append(newStream(), [event], { expected: 3 })
        .catch(() => undefined);
      expect(await store().findEvent(event.id)).to.equal(undefined);
    });
  });

  describe('head', () => {
    it('is the position of the last append', async () => {
      const { position } = await store().append(newStream(), newEvents(3), { expected: 'no_stream' });
      expect((await store().head()) >= position).to.equal(true);
    });

    it('has no events after it', async () => {
      await store().append(newStream(), [newEvent()], { expected: 'no_stream' });
      expect(await collect(store().readAll({ after: await store().head() }))).to.deep.equal([]);
    });

    it('does not change when an append is refused', async () => {
      const head = await store().head();
      await store()
        .append(newStream(), [newEvent()], { expected: 7 })
        .catch(() => undefined);
      expect(await store().head()).to.equal(head);
    });

    it('never decreases', async () => {
      const heads: GlobalPosition[] = [];
      for (let n = 0; n < 5; n += 1) {
        await store().append(newStream(), [newEvent()], { expected: 'no_stream' });
        heads.push(await store().head());
      }
      expect(heads).to.deep.equal(heads.toSorted());
    });
  });
}
