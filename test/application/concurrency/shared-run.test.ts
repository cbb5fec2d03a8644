import { expect } from 'chai';
import { createSharedRun } from '../../../application/concurrency/shared-run.ts';
import { rejectionOf } from '../../support/rejection.ts';

describe('a shared run', () => {
  it('serves all calls made during it', async () => {
    let runs = 0;
    const { run, current } = createSharedRun(() => Promise.resolve((runs += 1)));
    expect(current()).to.equal(undefined);
    const first = run();
    expect(await Promise.all([first, run(), current()])).to.deep.equal([1, 1, 1]);
    expect(current()).to.equal(undefined);
    expect(await run()).to.equal(2);
  });

  it('is followed by another one after a failure', async () => {
    let runs = 0;
    const { run } = createSharedRun(() =>
      (runs += 1) === 1 ? Promise.reject(new Error('broken')) : Promise.resolve('done'),
    );
    expect(await rejectionOf(run())).to.have.property('message', 'broken');
    expect(await run()).to.equal('done');
  });
});
