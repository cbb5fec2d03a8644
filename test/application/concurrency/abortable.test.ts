import { expect } from 'chai';
import { abortable } from '../../../application/concurrency/abortable.ts';
import { rejectionOf } from '../../support/rejection.ts';

describe('work that a signal ends', () => {
  const never = new Promise<string>(() => undefined);

  it('has the result of the work', async () => {
    expect(await abortable(Promise.resolve('done'), new AbortController().signal)).to.equal('done');
  });

  it('fails when the signal aborts', async () => {
    const stop = new AbortController();
    const work = rejectionOf(abortable(never, stop.signal));
    stop.abort('enough');
    expect(await work).to.include({ message: 'aborted', cause: 'enough' });
  });

  it('fails when the signal has already aborted', async () => {
    expect(await rejectionOf(abortable(never, AbortSignal.abort()))).to.have.property('message', 'aborted');
  });
});
