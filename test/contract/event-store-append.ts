import { expect } from 'chai';
import { v7 as uuidv7 } from 'uuid';
import type { EventStore, Expected } from '../../application/ports/event-store.ts';
import type { NewEvent } from '../../domain/event.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { ContractContext } from './event-store-context.ts';
import {
  codeOf,
  collect,
  idsOf,
  newEvent,
  newEvents,
  newStream,
  positionsOf,
  revisionsOf,
} from './event-store-fixtures.ts';

/** Appends: expected revisions, idempotency, atomicity, values. */
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
      const outcome = await store()
        .append(stream, [newEvent()], { expected: 'no_stream', signal: AbortSignal.abort(new Error('gone')) })
        .catch((error: unknown) => error);
      expect(outcome).to.be.instanceOf(Error);
      expect(await read(stream)).to.deep.equal([]);
    });
  });

  describe('a repeated append', () => {
    async function twice(
      expected: Expected,
      prepare?: (stream: string) => Promise<unknown>,
      between?: (stream: string) => Promise<unknown>,
    ) {
      const stream = newStream();
      await prepare?.(stream);
      const events = newEvents(3);
      const first = await append(stream, events, expected);
      await between?.(stream);
      const before = idsOf(await read(stream));
      const second = await append(stream, events, expected);
      expect({ revision: second.revision, position: second.position }).to.deep.equal({
        revision: first.revision,
        position: first.position,
      });
      if (context.reportsDuplicates) expect([first.duplicate, second.duplicate]).to.deep.equal([false, true]);
      expect(idsOf(await read(stream))).to.deep.equal(before);
    }

    it('returns the first result with `no_stream`', () => twice('no_stream'));

    it('returns the first result with the same expected revision', () =>
      twice(1, (stream) => append(stream, newEvents(2), 'any')));

    it('returns the first result with `any`', () => twice('any'));

    it('returns the first result with `stream_exists`', () =>
      twice('stream_exists', (stream) => append(stream, newEvents(2), 'any')));

    it('returns the first result after later appends to the stream', () =>
      twice('no_stream', undefined, (stream) => append(stream, newEvents(4), 2)));

    it('conflicts when the events at the expected revision have other ids', async () => {
      const stream = newStream();
      await append(stream, newEvents(3), 'no_stream');
      expect(await codeOf(append(stream, newEvents(3), 'no_stream'))).to.equal('conflict');
    });

    it('conflicts when the same ids have another expected revision', async () => {
      const stream = newStream();
      const events = newEvents(2);
      await append(stream, events, 'no_stream');
      await append(stream, newEvents(2), 1);
      expect(await codeOf(append(stream, events, 0))).to.equal('conflict');
    });

    it('fails with `idempotency_corrupted` when only the first ids follow the expected revision', async () => {
      const stream = newStream();
      const events = newEvents(2);
      await append(stream, events, 'no_stream');
      expect(await codeOf(append(stream, [...events, newEvent()], 'no_stream'))).to.equal('idempotency_corrupted');
    });

    it('fails with `idempotency_corrupted` when only the first ids are in the stream, with `any`', async () => {
      const stream = newStream();
      const [event] = newEvents(1);
      await append(stream, [event!], 'any');
      expect(await codeOf(append(stream, [event!, newEvent()], 'any'))).to.equal('idempotency_corrupted');
      expect(await read(stream)).to.have.length(1);
    });

    it('accepts an id that another stream contains', async () => {
      const event = newEvent();
      await append(newStream(), [event], 'any');
      const stream = newStream();
      expect((await append(stream, [event], 'any')).revision).to.equal(0);
    });

    it('returns one result to the same append sent ten times concurrently', async () => {
      const stream = newStream();
      const events = newEvents(2);
      const results = await Promise.all(Array.from({ length: 10 }, () => append(stream, events, 'no_stream')));
      expect(new Set(results.map(({ position }) => position)).size).to.equal(1);
      expect(await read(stream)).to.have.length(2);
    });
  });

  describe('concurrent appends', () => {
    async function race(stores: readonly EventStore[], expected: Expected) {
      const stream = newStream();
      const codes = await Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          codeOf(stores[n % stores.length]!.append(stream, [newEvent()], { expected })),
        ),
      );
      return {
        stream,
        won: codes.filter((code) => code === 'nothing was refused').length,
        lost: codes.filter((code) => code === 'conflict').length,
      };
    }

    it('accepts one of fifty appends with `no_stream`', async () => {
      const { stream, won, lost } = await race([store()], 'no_stream');
      expect([won, lost]).to.deep.equal([1, 49]);
      expect(await read(stream)).to.have.length(1);
    });

    it('accepts all of fifty appends with `any`, without gaps in the revisions', async () => {
      const { stream, won } = await race([store()], 'any');
      expect(won).to.equal(50);
      expect(revisionsOf(await read(stream))).to.deep.equal(Array.from({ length: 50 }, (_, n) => n));
    });

    it('writes to fifty streams', async () => {
      const streams = Array.from({ length: 50 }, () => newStream());
      const results = await Promise.all(streams.map((stream) => append(stream, newEvents(2), 'no_stream')));
      expect(results.every(({ revision }) => revision === 1)).to.equal(true);
      expect(new Set(results.map(({ position }) => position)).size).to.equal(50);
    });

    it('writes the other appends when one of them conflicts', async () => {
      const taken = newStream();
      await append(taken, [newEvent()], 'no_stream');
      const streams = Array.from({ length: 20 }, () => newStream());
      const outcomes = await Promise.all(
        streams.flatMap((stream) => [
          codeOf(append(taken, [newEvent()], 'no_stream')),
          codeOf(append(stream, [newEvent()], 'no_stream')),
        ]),
      );
      expect(outcomes.filter((code) => code === 'conflict')).to.have.length(20);
      expect(outcomes.filter((code) => code === 'nothing was refused')).to.have.length(20);
    });

    if (context.hooks.another) {
      it('accepts one of fifty conflicting appends from two processes', async () => {
        const other = await context.opened().another!();
        try {
          const { won, lost } = await race([store(), other], 'no_stream');
          expect([won, lost]).to.deep.equal([1, 49]);
        } finally {
          await other.close();
        }
      });

      it('reads immediately what another process has appended', async () => {
        const other = await context.opened().another!();
        try {
          const stream = newStream();
          await other.append(stream, newEvents(2), { expected: 'no_stream' });
          expect(await read(stream)).to.have.length(2);
          expect((await append(stream, [newEvent()], 1)).revision).to.equal(2);
        } finally {
          await other.close();
        }
      });
    }
  });

  describe('the values of an event', () => {
    async function roundTrip(data: JsonObject, type = 'EntryCreated') {
      const stream = newStream();
      const event = newEvent({ data, type });
      await append(stream, [event], 'no_stream');
      const [recorded] = await read(stream);
      expect(JSON.stringify(recorded?.data)).to.equal(JSON.stringify(data));
      expect(recorded?.type).to.equal(type);
      expect(recorded?.metadata).to.deep.equal(event.metadata);
    }

    it('are returned as they were written', async () => {
      const stream = newStream();
      const event = newEvent();
      const { position } = await append(stream, [event], 'no_stream');
      const [recorded] = await read(stream);
      const { recorded_at: recordedAt, ...rest } = recorded!;
      expect(rest).to.deep.equal({ ...event, stream, revision: 0, position });
      expect(recordedAt).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    });

    it('may be an empty object', () => roundTrip({}));

    it('may be of every JSON type', () =>
      roundTrip({
        null: null,
        true: true,
        false: false,
        zero: 0,
        negative: -1.5,
        small: 5e-324,
        large: 1.7976931348623157e308,
        list: [1, [], {}, [null]],
        nested: { a: { b: [] } },
      }));

    it('may contain any Unicode text, including astral characters, control characters and NUL', () =>
      roundTrip({
        text: 'Ünïcödé – 漢字 – 🦉 – \u202e – \u0000 – \u001e – \u001f – \\ – " – \' – {} – \n',
        '🔑\u0000': 'key',
      }));

    it('may contain lone surrogates', () => roundTrip({ text: 'a\ud800b', other: '\udfff' }));

    it('keep the order of members', () => roundTrip({ z: 1, a: 2, m: { y: 1, b: 2 } }));

    it('may have 512 KiB', () => roundTrip({ text: 'päge '.repeat(87_000) }));

    it('may contain text that looks like SQL or JSON', () =>
      roundTrip({ text: `'; drop table events; -- {"a":[1,2]} $1 {a,b}` }));

    it('keep unknown members of the metadata', async () => {
      const stream = newStream();
      const event = newEvent();
      const metadata = { ...event.metadata, traceparent: '00-abc-def-01' };
      await append(stream, [{ ...event, metadata }], 'no_stream');
      expect((await read(stream)).at(0)?.metadata).to.deep.equal(metadata);
    });

    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const notJson: readonly [string, unknown][] = [
      ['a bigint', { value: 1n }],
      ['undefined', { value: undefined }],
      ['NaN', { value: NaN }],
      ['infinity', { value: Infinity }],
      ['a date', { value: new Date(0) }],
      ['a function', { value: () => 1 }],
      ['a map', { value: new Map() }],
      ['a cycle', circular],
      ['a list instead of an object', [1, 2]],
    ];
    for (const [name, data] of notJson) {
      it(`are refused unless they are JSON: ${name}`, async () => {
        const stream = newStream();
        const event = { ...newEvent(), data: data as JsonObject };
        expect(await codeOf(append(stream, [event], 'no_stream'))).to.equal('invalid_append');
        expect(await read(stream)).to.deep.equal([]);
      });
    }

    it('are refused with an id that is not a UUID', async () => {
      expect(await codeOf(append(newStream(), [newEvent({ id: 'one' })], 'any'))).to.equal('invalid_append');
    });

    it('are refused for a stream without a name', async () => {
      expect(await codeOf(append('', [newEvent()], 'any'))).to.equal('invalid_append');
    });

    it('are refused for a stream name with control characters', async () => {
      expect(await codeOf(append('entry-default.a\u001eb', [newEvent()], 'any'))).to.equal('invalid_append');
    });

    it('are refused with an invalid expected revision', async () => {
      expect(await codeOf(append(newStream(), [newEvent()], -1))).to.equal('invalid_append');
      expect(await codeOf(append(newStream(), [newEvent()], 1.5))).to.equal('invalid_append');
    });

    it('are accepted for stream names with quotes, percent signs and capital letters', async () => {
      const stream = `entry-default.${uuidv7()} 'x' "y" %2F ÄÖ {a,b}`;
      await append(stream, [newEvent()], 'no_stream');
      expect((await read(stream)).at(0)?.stream).to.equal(stream);
      expect(await read(stream.toLowerCase())).to.deep.equal([]);
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
