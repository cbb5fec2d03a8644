import { expect } from 'chai';
import fc from 'fast-check';
import { mergeEvents } from '../../application/merge-events.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import { recordedEvent } from '../support/recorded-events.ts';

async function* read(numbers: readonly number[], onEnd?: () => void): AsyncIterable<RecordedEvent> {
  try {
    for (const number of numbers) yield await Promise.resolve(recordedEvent({ number }));
  } finally {
    onEnd?.();
  }
}

async function positions(events: AsyncIterable<RecordedEvent>): Promise<readonly number[]> {
  const merged: number[] = [];
  for await (const { position } of events) merged.push(Number(position));
  return merged;
}

describe('merged reads of the log', () => {
  it('return every event once, in the order of the log, in both directions', async () => {
    const numbers = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(fc.array(numbers, { maxLength: 4 }), async (reads) => {
        const ascending = [...new Set(reads.flat())].toSorted((a, b) => a - b);
        const forwards = reads.map((one) => read(one.toSorted((a, b) => a - b)));
        expect(await positions(mergeEvents(forwards, 'forwards'))).to.deep.equal(ascending);
        const backwards = reads.map((one) => read(one.toSorted((a, b) => b - a)));
        expect(await positions(mergeEvents(backwards, 'backwards'))).to.deep.equal(ascending.toReversed());
      }),
    );
  });

  it('are closed when the caller stops reading', async () => {
    const ended: string[] = [];
    const reads = [read([1, 3], () => ended.push('odd')), read([2, 4], () => ended.push('even'))];
    for await (const { position } of mergeEvents(reads, 'forwards')) if (Number(position) === 2) break;
    expect(ended).to.deep.equal(['odd', 'even']);
  });
});
