import { expect } from 'chai';
import { inParallel } from '../../../application/concurrency/in-parallel.ts';
import { gate } from '../../support/gate.ts';

describe('inParallel', () => {
  it('returns the results in the order of the items', async () => {
    const gates = [1, 2, 3].map(() => gate());
    const running = inParallel([0, 1, 2], 3, async (item) => {
      await gates[item]?.opened;
      return item * 10;
    });
    for (const { open } of gates.toReversed()) open();
    expect(await running).to.deep.equal([0, 10, 20]);
  });

  it('works on no more items at the same time than the limit', async () => {
    let running = 0;
    let most = 0;
    await inParallel([1, 2, 3, 4, 5], 2, async () => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
    });
    expect(most).to.equal(2);
  });

  it('starts no more work after the first error and waits for the work that runs', async () => {
    const slow = gate();
    const started: number[] = [];
    const settled: string[] = [];
    const running = inParallel([0, 1, 2, 3], 2, async (item) => {
      started.push(item);
      if (item === 0) throw new Error('first');
      await slow.opened;
      settled.push(`item ${item}`);
    }).catch((error: unknown) => settled.push(String(error)));
    await new Promise(setImmediate);
    slow.open();
    await running;
    await new Promise(setImmediate);
    expect(settled).to.deep.equal(['item 1', 'Error: first']);
    expect(started).to.deep.equal([0, 1]);
  });
});
