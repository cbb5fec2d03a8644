import { expect } from 'chai';
import { createMutex } from '../../../application/concurrency/mutex.ts';
import { rejectionOf } from '../../support/rejection.ts';

describe('turns', () => {
  it('run work one after another, in the order of the calls', async () => {
    const mutex = createMutex();
    const steps: string[] = [];
    const work = (name: string) => async () => {
      steps.push(`${name} begins`);
      await Promise.resolve();
      steps.push(`${name} ends`);
      return name;
    };
    expect(await Promise.all([mutex.run(work('one')), mutex.run(work('two'))])).to.deep.equal(['one', 'two']);
    expect(steps).to.deep.equal(['one begins', 'one ends', 'two begins', 'two ends']);
  });

  it('go on after a failure', async () => {
    const mutex = createMutex();
    const failed = rejectionOf(mutex.run(() => Promise.reject(new Error('broken'))));
    expect(await mutex.run(() => Promise.resolve('done'))).to.equal('done');
    expect(await failed).to.have.property('message', 'broken');
  });

  it('count the work that runs or waits', async () => {
    const mutex = createMutex();
    const first = mutex.run(() => Promise.resolve());
    const second = mutex.run(() => Promise.resolve(mutex.count()));
    expect(mutex.count()).to.equal(2);
    await first;
    expect(await second).to.equal(1);
    await mutex.run(() => Promise.resolve());
    expect(mutex.count()).to.equal(0);
  });
});
