import { expect } from 'chai';
import type { EventStore, Expected } from '../../application/ports/event-store.ts';
import type { NewEvent } from '../../domain/event.ts';
import { rejectionOf } from '../support/rejection.ts';
import type { ContractContext } from './event-store-context.ts';
import {
  codeOf,
  collect,
  follow,
  idsOf,
  newEvent,
  newEvents,
  newStream,
  newTenant,
  positionsOf,
  revisionsOf,
} from './event-store-fixtures.ts';

/** Appends: expected revisions, several events, several streams. */
export function appendCases(context: ContractContext): void {
  const { store } = context;
  const append = (stream: string, events: readonly NewEvent[], expected: Expected) =>
    store().append(stream, events, { expected });
  const read = (stream: string) => collect(store().readStream(stream));

  describe('append with an expected revision', () => {
    it('creates a stream with `no_stream`', async () => {
      const stream = newStream();
      const result = await append(stream, [newEvent()], 'no_stream');
      expect(result.revision).to.equal(0);
      expect(result.duplicate).to.equal(false);
    });

    it('refuses `no_stream` when the stream exists', async () => {
      const stream = newStream();
      await append(stream, [newEvent()], 'no_stream');
      expect(await codeOf(append(stream, [newEvent()], 'no_stream'))).to.equal('conflict');
    });

    it('appends when the expected revision is the last one', async () => {
      const stream = newStream();
      await append(stream, newEvents(3), 'no_stream');
      expect((await append(stream, [newEvent()], 2)).revision).to.equal(3);
    });

    it('refuses an expected revision before the last one', async () => {
      const stream = newStream();
      await append(stream, newEvents(3), 'no_stream');
      expect(await codeOf(append(stream, [newEvent()], 1))).to.equal('conflict');
    });

    it('refuses an expected revision after the last one', async () => {
      const stream = newStream();
      await append(stream, newEvents(3), 'no_stream');
      expect(await codeOf(append(stream, [newEvent()], 3))).to.equal('conflict');
    });

    it('refuses expected revision 0 when the stream does not exist', async () => {
      expect(await codeOf(append(newStream(), [newEvent()], 0))).to.equal('conflict');
    });

    it('appends with expected revision 0 after the first event', async () => {
      const stream = newStream();
      await append(stream, [newEvent()], 'no_stream');
      expect((await append(stream, [newEvent()], 0)).revision).to.equal(1);
    });

    it('appends with `stream_exists` to an existing stream', async () => {
      const stream = newStream();
      await append(stream, newEvents(2), 'no_stream');
      expect((await append(stream, [newEvent()], 'stream_exists')).revision).to.equal(2);
    });

    it('refuses `stream_exists` when the stream does not exist', async () => {
      expect(await codeOf(append(newStream(), [newEvent()], 'stream_exists'))).to.equal('conflict');
    });

    it('creates a stream with `any`', async () => {
      expect((await append(newStream(), [newEvent()], 'any')).revision).to.equal(0);
    });

    it('appends with `any` to an existing stream', async () => {
      const stream = newStream();
      await append(stream, newEvents(2), 'any');
      expect((await append(stream, newEvents(2), 'any')).revision).to.equal(3);
    });

    it('leaves the stream unchanged when it refuses an append', async () => {
      const stream = newStream();
      const events = newEvents(2);
      await append(stream, events, 'no_stream');
      await codeOf(append(stream, newEvents(3), 'no_stream'));
      expect(idsOf(await read(stream))).to.deep.equal(idsOf(events));
    });

    it('accepts an append after a refused one', async () => {
      const stream = newStream();
      await append(stream, [newEvent()], 'no_stream');
      await codeOf(append(stream, [newEvent()], 5));
      expect((await append(stream, [newEvent()], 0)).revision).to.equal(1);
    });
  });

  describe('append of several events', () => {
    it('returns the revision of the last event', async () => {
      expect((await append(newStream(), newEvents(5), 'no_stream')).revision).to.equal(4);
    });

    it('returns the position of the last event', async () => {
      const stream = newStream();
      const { position } = await append(stream, newEvents(5), 'no_stream');
      expect((await read(stream)).at(-1)?.position).to.equal(position);
    });

    it('keeps the order of the events', async () => {
      const stream = newStream();
      const events = newEvents(20);
      await append(stream, events, 'no_stream');
      const recorded = await read(stream);
      expect(idsOf(recorded)).to.deep.equal(idsOf(events));
      expect(revisionsOf(recorded)).to.deep.equal(events.map((_, n) => n));
    });

    it('assigns greater positions to later appends', async () => {
      const first = await append(newStream(), [newEvent()], 'no_stream');
      const second = await append(newStream(), [newEvent()], 'no_stream');
      expect(second.position > first.position).to.equal(true);
    });

    it('returns positions of twenty digits', async () => {
      expect((await append(newStream(), [newEvent()], 'no_stream')).position).to.match(/^\d{20}$/);
    });

    it('refuses an append without events', async () => {
      expect(await codeOf(append(newStream(), [], 'any'))).to.equal('invalid_append');
    });

    it('writes a thousand events in one append', async () => {
      const stream = newStream();
      const events = newEvents(1000);
      expect((await append(stream, events, 'no_stream')).revision).to.equal(999);
      expect(idsOf(await read(stream))).to.deep.equal(idsOf(events));
    });

    it('shows readers either all of a thousand events or none', async () => {
      const stream = newStream();
      const counts = new Set<number>();
      let writing = true;
      const reading = (async () => {
        while (writing)
          counts.add(
            (await collect(store().readStream(stream, { direction: 'backwards', limit: 1 }))).at(0)?.revision ?? -1,
          );
      })();
      await append(stream, newEvents(1000), 'no_stream');
      writing = false;
      await reading;
      expect([...counts].every((revision) => revision === -1 || revision === 999)).to.equal(true);
    });

    it('writes none of a thousand events when the expected revision does not match', async () => {
      const stream = newStream();
      await append(stream, [newEvent()], 'no_stream');
      expect(await codeOf(append(stream, newEvents(1000), 'no_stream'))).to.equal('conflict');
      expect(await read(stream)).to.have.length(1);
    });

    it('refuses an append that is too large', async () => {
      const stream = newStream();
      const events = [newEvent({ data: { text: 'x'.repeat(context.tooManyBytes) } })];
      expect(await codeOf(append(stream, events, 'no_stream'))).to.equal('too_large');
      expect(await read(stream)).to.deep.equal([]);
    });

    it("is not affected by changes to the caller's objects after the call", async () => {
      const stream = newStream();
      const data = { title: 'before' };
      const appended = append(stream, [newEvent({ data })], 'no_stream');
      data.title = 'after';
      await appended;
      expect((await read(stream)).at(0)?.data).to.deep.equal({ title: 'before' });
    });

    it('rejects an append whose signal has aborted, and writes nothing', async () => {
      const stream = newStream();
      const outcome = await rejectionOf(
        store().append(stream, [newEvent()], { expected: 'no_stream', signal: AbortSignal.abort(new Error('gone')) }),
      );
      expect(outcome).to.be.instanceOf(Error);
      expect(await read(stream)).to.deep.equal([]);
    });
  });

  if (context.hooks.appendMany) {
    describe('appendMany', () => {
      const appendMany: NonNullable<EventStore['appendMany']> = (writes) => store().appendMany!(writes);

      it('writes to several streams atomically', async () => {
        const [a, b] = [newStream(), newStream()];
        await append(b, newEvents(2), 'no_stream');
        const results = await appendMany([
          { stream: a, events: newEvents(2), expected: 'no_stream' },
          { stream: b, events: newEvents(1), expected: 1 },
        ]);
        expect(results.map(({ revision }) => revision)).to.deep.equal([1, 2]);
      });

      it('writes nothing when one expected revision does not match', async () => {
        const [a, b] = [newStream(), newStream()];
        await append(b, newEvents(1), 'no_stream');
        const writes = [
          { stream: a, events: newEvents(2), expected: 'no_stream' as const },
          { stream: b, events: newEvents(1), expected: 'no_stream' as const },
        ];
        expect(await codeOf(appendMany(writes))).to.equal('conflict');
        expect(await read(a)).to.deep.equal([]);
      });

      it('marks its events, except for the last one, with the position of the last one', async () => {
        const tenant = newTenant();
        const writes = [newStream('entry', tenant), newStream('entry', tenant)].map((stream) => ({
          stream,
          events: newEvents(2, { tenant }),
          expected: 'no_stream' as const,
        }));
        const following = follow(store(), { after: await store().head(), filter: { tenant } });
        await following.caughtUp();
        const end = (await appendMany(writes)).at(-1)!.position;
        await store().append(writes[0]!.stream, newEvents(1, { tenant }), { expected: 1 });
        await following.until(() => following.events().length === 5);
        const ends = [end, end, end, undefined, undefined];
        const logged = await collect(store().readAll({ filter: { tenant } }));
        expect(logged.map((event) => event.append_end)).to.deep.equal(ends);
        expect(following.events()).to.deep.equal(logged);
        await following.stop();
      });

      it('returns the first result when repeated', async () => {
        const writes = [newStream(), newStream()].map((stream) => ({
          stream,
          events: newEvents(2),
          expected: 'no_stream' as const,
        }));
        const first = await appendMany(writes);
        const second = await appendMany(writes);
        expect(
          positionsOf((await Promise.all(writes.map(({ stream }) => read(stream)))).map((events) => events.at(-1)!)),
        ).to.deep.equal(first.map(({ position }) => position));
        expect(second.map(({ position }) => position)).to.deep.equal(first.map(({ position }) => position));
        if (context.reportsDuplicates) expect(second.every(({ duplicate }) => duplicate)).to.equal(true);
      });

      it('refuses a stream named twice', async () => {
        const stream = newStream();
        const writes = [1, 2].map(() => ({ stream, events: newEvents(1), expected: 'any' as const }));
        expect(await codeOf(appendMany(writes))).to.equal('invalid_append');
      });

      it('refuses an empty list of streams', async () => {
        expect(await codeOf(appendMany([]))).to.equal('invalid_append');
      });

      it('is reported by `capabilities.atomicMultiStream`', () => {
        expect(store().capabilities.atomicMultiStream).to.equal(true);
      });
    });
  } else {
    it('does not exist when `capabilities.atomicMultiStream` is false', () => {
      expect(store().capabilities.atomicMultiStream).to.equal(false);
    });
  }
}
