import { expect } from 'chai';
import { createKeyedMutex } from '../../../application/concurrency/keyed-mutex.ts';

describe('turns by key', () => {
  it('run the work of one key one after another, and that of another key at the same time', async () => {
    const mutex = createKeyedMutex();
    const steps: string[] = [];
    let end: () => void = () => undefined;
    const first = mutex.run('a', async () => {
      steps.push('a begins');
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      steps.push('a ends');
    });
    const second = mutex.run('a', () => Promise.resolve(steps.push('a again')));
    await mutex.run('b', () => Promise.resolve(steps.push('b')));
    expect(steps).to.deep.equal(['a begins', 'b']);
    end();
    await Promise.all([first, second]);
    expect(steps).to.deep.equal(['a begins', 'b', 'a ends', 'a again']);
  });

  it('count the work of a key that runs or waits', async () => {
    const mutex = createKeyedMutex();
    const both = [mutex.run('a', () => Promise.resolve()), mutex.run('a', () => Promise.resolve())];
    expect([mutex.count('a'), mutex.count('b')]).to.deep.equal([2, 0]);
    await Promise.all(both);
    expect(mutex.count('a')).to.equal(0);
  });
});
