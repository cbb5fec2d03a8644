import { expect } from 'chai';
import { stoppablePause } from '../../../application/concurrency/stoppable-pause.ts';

describe('a pause that a signal ends', () => {
  it('serves any number of loops on one signal, without a warning', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on('warning', note);
    try {
      const stopping = new AbortController();
      const pause = stoppablePause(stopping.signal);
      const pauses = Array.from({ length: 50 }, () => pause(60_000));
      stopping.abort();
      expect(await Promise.all(pauses)).to.deep.equal(pauses.map(() => false));
      await new Promise((resolve) => setImmediate(resolve));
      expect(warnings).to.deep.equal([]);
    } finally {
      process.off('warning', note);
    }
  });

  it('ends after its time', async () => {
    expect(await stoppablePause(new AbortController().signal)(1)).to.equal(true);
  });
});
