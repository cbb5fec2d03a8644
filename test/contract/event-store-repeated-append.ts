import { expect } from 'chai';
import type { EventStore, Expected } from '../../application/ports/event-store.ts';
import type { NewEvent } from '../../domain/event.ts';
import type { ContractContext } from './event-store-context.ts';
import { codeOf, collect, idsOf, newEvent, newEvents, newStream, revisionsOf } from './event-store-fixtures.ts';

/** Appends that are repeated or run concurrently. */
export function repeatedAppendCases(context: ContractContext): void {
  const { store } = context;
  const append = (stream: string, events: readonly NewEvent[], expected: Expected) =>
    store().append(stream, events, { expected });
  const read = (stream: string) => collect(store().readStream(stream));

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
}
