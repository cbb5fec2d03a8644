import { expect } from 'chai';
import { oneAtATime } from '../../../application/concurrency/one-at-a-time.ts';
import { rejectionOf } from '../../support/rejection.ts';

/** Work whose runs are ended one by one by the test. */
function controlledWork() {
  const ends: (() => void)[] = [];
  return {
    ends,
    work: () =>
      new Promise<void>((resolve) => {
        ends.push(resolve);
      }),
  };
}

describe('work that runs one at a time', () => {
  it('runs once more for all calls made during a run', async () => {
    const { ends, work } = controlledWork();
    const call = oneAtATime(work);
    const first = call();
    await Promise.resolve();
    expect(ends).to.have.length(1);
    const second = call();
    const third = call();
    expect(ends).to.have.length(1);
    ends[0]?.();
    await first;
    while (ends.length < 2) await Promise.resolve();
    ends[1]?.();
    await Promise.all([second, third]);
    expect(ends).to.have.length(2);
  });

  it('runs again after a failure', async () => {
    let runs = 0;
    const call = oneAtATime(() => {
      runs += 1;
      return runs === 1 ? Promise.reject(new Error('broken')) : Promise.resolve();
    });
    expect(await rejectionOf(call())).to.have.property('message', 'broken');
    await call();
    expect(runs).to.equal(2);
  });
});
