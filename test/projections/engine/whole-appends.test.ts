import { expect } from 'chai';
import fc from 'fast-check';
import type { SubscriptionItem } from '../../../application/ports/event-store.ts';
import { ORIGIN, type RecordedEvent } from '../../../domain/event.ts';
import { openBatches } from '../../../projections/engine/batches.ts';
import { positionOf, recorded } from '../../support/open-log.ts';

/** Events of appends with these numbers of events, in the order of the log. */
function logOf(sizes: readonly number[]): readonly RecordedEvent[] {
  let count = 0;
  return sizes.flatMap((size) => {
    const end = count + size;
    return Array.from({ length: size }, () => {
      count += 1;
      const event = recorded(count, { stream: `entry-default.${String(count)}`, type: 'NoteTitled', data: {} });
      return count < end ? { ...event, append_end: positionOf(end) } : event;
    });
  });
}

/** A subscription that yields the events kept by the filter in items of these sizes. */
function storeOf(events: readonly RecordedEvent[], keep: (index: number) => boolean, cuts: readonly number[]) {
  return {
    head: () => Promise.resolve(events.at(-1)?.position ?? ORIGIN),
    async *subscribe(): AsyncIterable<SubscriptionItem> {
      for (let start = 0, n = 0; start < events.length; n += 1) {
        const part = events.slice(start, start + (cuts[n % cuts.length] ?? 1));
        const kept = part.filter((_, index) => keep(start + index));
        start += part.length;
        const { position } = part.at(-1)!;
        if (kept.length > 0) yield { kind: 'events', events: kept, bytes: kept.length * 100, position };
        else yield { kind: 'checkpoint', position };
        await Promise.resolve();
      }
      yield { kind: 'caught_up', position: events.at(-1)?.position ?? ORIGIN };
    },
  };
}

describe('batches', () => {
  it('contain all events in order, and those of an append together, however they arrive', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 }),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }),
        fc.integer({ min: 1, max: 25 }),
        fc.constantFrom(200, 1_000, 1_000_000),
        fc.constantFrom(1, 7, 1_000),
        async (sizes, cuts, kept, maxEvents, maxBytes, tables) => {
          const events = logOf(sizes);
          const keep = (index: number) => kept[index % kept.length] === true;
          const batches = openBatches({
            eventStore: storeOf(events, keep, cuts),
            after: ORIGIN,
            filter: {},
            maxEvents,
            maxBytes,
            signal: new AbortController().signal,
            // Each event has a table of its own, or shares it with those of the same rest.
            tableOf: ({ stream }) => String(Number(stream.split('.').at(-1)) % (tables * 100)),
          });
          const batchOf = new Map<string, number>();
          const order: string[] = [];
          for (let n = 0; ; n += 1) {
            const batch = await batches.next();
            if (typeof batch === 'string') break;
            for (const { id } of batch.events) {
              batchOf.set(id, n);
              order.push(id);
            }
          }
          await batches.close();
          const expected = events.filter((_, index) => keep(index));
          expect(order).to.deep.equal(expected.map(({ id }) => id));
          for (const { append_end, position } of expected) {
            if (!append_end) continue;
            const together = expected.filter((event) => event.position >= position && event.position <= append_end);
            expect(new Set(together.map(({ id }) => batchOf.get(id))).size).to.equal(1);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('are bounded in bytes', async () => {
    const batches = openBatches({
      eventStore: storeOf(logOf(Array.from({ length: 400 }, () => 1)), () => true, [10]),
      after: ORIGIN,
      filter: {},
      maxEvents: 2_000,
      maxBytes: 3_000,
      signal: new AbortController().signal,
    });
    const sizes: number[] = [];
    for (;;) {
      const batch = await batches.next();
      if (typeof batch === 'string') break;
      if (batch.events.length > 0) sizes.push(batch.events.length);
    }
    await batches.close();
    expect(sizes.reduce((sum, size) => sum + size, 0)).to.equal(400);
    expect(Math.max(...sizes)).to.be.at.most(30);
  });
});
