import { expect } from 'chai';
import { createWaker } from '../../../application/concurrency/waker.ts';

describe('a waker', () => {
  it('ends the wait that runs, once', async () => {
    const waker = createWaker();
    const waits = waker.wait();
    waker.wake();
    expect(await waits).to.equal(true);
    expect(await waker.wait(1)).to.equal(false);
  });

  it('ends the next wait at once when it was woken before', async () => {
    const waker = createWaker();
    waker.wake();
    waker.wake();
    expect(await waker.wait()).to.equal(true);
    expect(await waker.wait(1)).to.equal(false);
  });

  it('forgets an earlier wake on reset', async () => {
    const waker = createWaker();
    waker.wake();
    waker.reset();
    expect(await waker.wait(1)).to.equal(false);
  });

  it('wakes the next wait after a wait that ended by its time', async () => {
    const waker = createWaker();
    expect(await waker.wait(1)).to.equal(false);
    waker.wake();
    expect(await waker.wait()).to.equal(true);
  });
});
