import { expect } from 'chai';
import { createTurns } from '../../../application/concurrency/turns.ts';
import { rejectionOf } from '../../support/rejection.ts';

describe('turns', () => {
  it('run work one after another, in the order of the calls', async () => {
    const turns = createTurns();
    const steps: string[] = [];
    const work = (name: string) => async () => {
      steps.push(`${name} begins`);
      await Promise.resolve();
      steps.push(`${name} ends`);
      return name;
    };
    expect(await Promise.all([turns.run(work('one')), turns.run(work('two'))])).to.deep.equal(['one', 'two']);
    expect(steps).to.deep.equal(['one begins', 'one ends', 'two begins', 'two ends']);
  });

  it('go on after a failure', async () => {
    const turns = createTurns();
    const failed = rejectionOf(turns.run(() => Promise.reject(new Error('broken'))));
    expect(await turns.run(() => Promise.resolve('done'))).to.equal('done');
    expect(await failed).to.have.property('message', 'broken');
  });

  it('count the work that runs or waits', async () => {
    const turns = createTurns();
    const first = turns.run(() => Promise.resolve());
    const second = turns.run(() => Promise.resolve(turns.count()));
    expect(turns.count()).to.equal(2);
    await first;
    expect(await second).to.equal(1);
    await turns.run(() => Promise.resolve());
    expect(turns.count()).to.equal(0);
  });
});
