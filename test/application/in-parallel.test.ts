import { expect } from 'chai';
import { inParallel } from '../../application/in-parallel.ts';

describe('inParallel', () => {
  it('returns the results in the order of the items', async () => {
    const gates = [1, 2, 3].map(() => createGate());
    const running = inParallel([0, 1, 2], 3, async (item) => {
      await gates[item]?.passed;
      return item * 10;
    });
    for (const gate of gates.toReversed()) gate.open();
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
    const slow = createGate();
    const started: number[] = [];
    const settled: string[] = [];
    const running = inParallel([0, 1, 2, 3], 2, async (item) => {
      started.push(item);
      if (item === 0) throw new Error('first');
      await slow.passed;
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

/** A promise that resolves when `open` is called. */
function createGate(): { readonly passed: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}
