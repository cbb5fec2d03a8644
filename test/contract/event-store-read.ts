import { expect } from 'chai';
import { v7 as uuidv7 } from 'uuid';
import type { EventFilter } from '../../application/ports/event-store.ts';
import { ORIGIN } from '../../domain/event.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { ContractContext } from './event-store.ts';
import { appendEach, collect, idsOf, newEvent, newEvents, newStream, newTenant, positionsOf, revisionsOf } from './event-store-fixtures.ts';

/** Reading one stream, the whole log, its head. */
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

    it('reads forwards from a revision, which is included', async () => {
      expect(await revisions(await written(4), { from: 2 })).to.deep.equal([2, 3]);
    });

    it('reads backwards from a revision, which is included', async () => {
      expect(await revisions(await written(4), { from: 2, direction: 'backwards' })).to.deep.equal([2, 1, 0]);
    });

    it('reads nothing forwards from beyond the end', async () => {
      expect(await revisions(await written(4), { from: 4 })).to.deep.equal([]);
    });

    it('reads backwards from beyond the end', async () => {
      expect(await revisions(await written(3), { from: 10, direction: 'backwards' })).to.deep.equal([2, 1, 0]);
    });

    it('reads at most as many as asked for', async () => {
      expect(await revisions(await written(5), { limit: 2 })).to.deep.equal([0, 1]);
    });

    it('reads at most as many as asked for, backwards', async () => {
      expect(await revisions(await written(5), { limit: 2, direction: 'backwards' })).to.deep.equal([4, 3]);
    });

    it('reads a window of revisions', async () => {
      expect(await revisions(await written(6), { from: 1, limit: 3 })).to.deep.equal([1, 2, 3]);
    });

    it('reads nothing where nothing is asked for', async () => {
      expect(await revisions(await written(2), { limit: 0 })).to.deep.equal([]);
    });

    it('reads a stream longer than any page', async () => {
      const stream = await written(1500);
      await store().append(stream, newEvents(1000), { expected: 1499 });
      expect(await revisions(stream)).to.deep.equal(Array.from({ length: 2500 }, (_, n) => n));
    });

    it('reads a stream longer than any page backwards', async () => {
      const stream = await written(1500);
      await store().append(stream, newEvents(1000), { expected: 1499 });
      expect(await revisions(stream, { direction: 'backwards' })).to.deep.equal(Array.from({ length: 2500 }, (_, n) => 2499 - n));
    });

    it('reads the stream named, and none whose name only begins alike', async () => {
      const stream = await written(1);
      await store().append(`${stream}x`, newEvents(2), { expected: 'no_stream' });
      expect(await revisions(stream)).to.deep.equal([0]);
    });

    it('stops where the reader stops', async () => {
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
    it('reads what was appended after a position, in the order of the appends', async () => {
      const after = await store().head();
      const streams = [newStream(), newStream('media'), newStream('user')];
      for (const stream of streams) await store().append(stream, newEvents(2), { expected: 'no_stream' });
      const events = await collect(store().readAll({ after }));
      expect(events.map(({ stream }) => stream)).to.deep.equal(streams.flatMap((stream) => [stream, stream]));
      expect(positionsOf(events)).to.deep.equal(positionsOf(events).toSorted());
    });

    it('leaves out the event at the position it starts after', async () => {
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

    it('gives every event a position of its own', async () => {
      const positions = positionsOf(await collect(store().readAll()));
      expect(new Set(positions).size).to.equal(positions.length);
    });

    it('reads backwards from the head', async () => {
      await store().append(newStream(), newEvents(3), { expected: 'no_stream' });
      expect(revisionsOf(await collect(store().readAll({ direction: 'backwards', limit: 3 })))).to.deep.equal([2, 1, 0]);
    });

    it('leaves out the event at the position it reads backwards from', async () => {
      const results = await appendEach(store(), newStream(), newEvents(3));
      expect(revisionsOf(await collect(store().readAll({ direction: 'backwards', after: results[2]!.position, limit: 2 })))).to.deep.equal([1, 0]);
    });

    it('reads nothing before the origin', async () => {
      expect(await collect(store().readAll({ direction: 'backwards', after: ORIGIN }))).to.deep.equal([]);
    });

    it('reads at most as many as asked for', async () => {
      const after = await store().head();
      await store().append(newStream(), newEvents(5), { expected: 'no_stream' });
      expect(revisionsOf(await collect(store().readAll({ after, limit: 2 })))).to.deep.equal([0, 1]);
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

    it('gives events as readStream does', async () => {
      const after = await store().head();
      const stream = newStream();
      await store().append(stream, newEvents(3), { expected: 'no_stream' });
      expect(await collect(store().readAll({ after }))).to.deep.equal(await collect(store().readStream(stream)));
    });

    it('reads on after a position where there is nothing yet', async () => {
      const after = await store().head();
      expect(await collect(store().readAll({ after }))).to.deep.equal([]);
      await store().append(newStream(), [newEvent()], { expected: 'no_stream' });
      expect(await collect(store().readAll({ after }))).to.have.length(1);
    });

    it('never skips an event while others are appended', async () => {
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

  describe('readAll, filtered', () => {
    async function matching(filter: EventFilter, direction: 'forwards' | 'backwards' = 'forwards', limit?: number) {
      const tenant = newTenant();
      const correlationId = uuidv7();
      const after = await store().head();
      await store().append(newStream('entry', tenant), [newEvent({ tenant, type: 'EntryCreated' }), newEvent({ tenant, type: 'EntryDeleted', correlationId })], { expected: 'any' });
      await store().append(newStream('media', tenant), [newEvent({ tenant, type: 'MediaUploaded', correlationId })], { expected: 'any' });
      await store().append(newStream('entry'), [newEvent({ type: 'EntryCreated' }), newEvent({ type: 'EntryPublished' })], { expected: 'any' });
      const bound = { ...filter, ...(filter.tenant === undefined ? {} : { tenant }), ...(filter.correlationId === undefined ? {} : { correlationId }) };
      const events = await collect(store().readAll({ ...(direction === 'forwards' ? { after } : {}), direction, filter: bound, ...(limit === undefined ? {} : { limit }) }));
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
      expect(await matching({ types: ['EntryPublished', 'EntryDeleted'] })).to.deep.equal(['EntryDeleted', 'EntryPublished']);
    });

    it('reads the events of one tenant', async () => {
      expect(await matching({ tenant: 'own' })).to.deep.equal(['EntryCreated', 'EntryDeleted', 'MediaUploaded']);
    });

    it('reads the events of one correlation', async () => {
      expect(await matching({ correlationId: 'own' })).to.deep.equal(['EntryDeleted', 'MediaUploaded']);
    });

    it('reads what every part of the filter lets through', async () => {
      expect(await matching({ tenant: 'own', categories: ['entry'], types: ['EntryCreated', 'MediaUploaded'] })).to.deep.equal(['EntryCreated']);
    });

    it('reads filtered events backwards', async () => {
      expect(await matching({ tenant: 'own' }, 'backwards')).to.deep.equal(['MediaUploaded', 'EntryDeleted', 'EntryCreated']);
    });

    it('counts matching events only towards the limit', async () => {
      expect(await matching({ tenant: 'own' }, 'backwards', 2)).to.deep.equal(['MediaUploaded', 'EntryDeleted']);
    });

    it('reads everything through an empty filter', async () => {
      expect(await matching({})).to.have.length(5);
    });

    it('reads nothing where no category is let through', async () => {
      expect(await matching({ categories: [] })).to.deep.equal([]);
    });

    it('takes a category by its whole name', async () => {
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

    it('finds nothing for an id that no event has', async () => {
      expect(await store().findEvent(uuidv7())).to.equal(undefined);
    });

    it('finds nothing for what is no id', async () => {
      expect(await store().findEvent(`' or 1=1`)).to.equal(undefined);
    });

    it('finds nothing of an append that was refused', async () => {
      const event = newEvent();
      await store().append(newStream(), [event], { expected: 3 }).catch(() => undefined);
      expect(await store().findEvent(event.id)).to.equal(undefined);
    });
  });

  describe('head', () => {
    it('is at the last append', async () => {
      const { position } = await store().append(newStream(), newEvents(3), { expected: 'no_stream' });
      expect((await store().head()) >= position).to.equal(true);
    });

    it('has nothing after it', async () => {
      await store().append(newStream(), [newEvent()], { expected: 'no_stream' });
      expect(await collect(store().readAll({ after: await store().head() }))).to.deep.equal([]);
    });

    it('stays where it is when an append is refused', async () => {
      const head = await store().head();
      await store().append(newStream(), [newEvent()], { expected: 7 }).catch(() => undefined);
      expect(await store().head()).to.equal(head);
    });

    it('does not go back', async () => {
      const heads: GlobalPosition[] = [];
      for (let n = 0; n < 5; n += 1) {
        await store().append(newStream(), [newEvent()], { expected: 'no_stream' });
        heads.push(await store().head());
      }
      expect(heads).to.deep.equal(heads.toSorted());
    });
  });
}
