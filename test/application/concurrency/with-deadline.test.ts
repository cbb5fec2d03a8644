import { expect } from 'chai';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { withDeadline } from '../../../application/concurrency/with-deadline.ts';
import { rejectionOf } from '../../support/rejection.ts';

describe('work with a deadline', () => {
  const never = new Promise<string>(() => undefined);

  it('has the result of the work when it finishes in time', async () => {
    expect(await withDeadline(Promise.resolve('done'), 60_000)).to.equal('done');
  });

  it('fails as the work fails', async () => {
    expect(await rejectionOf(withDeadline(Promise.reject(new Error('broken')), 60_000))).to.have.property(
      'message',
      'broken',
    );
  });

  it('fails after its time', async () => {
    expect(await rejectionOf(withDeadline(never, 1))).to.have.property('message', 'not finished after 1 ms');
  });

  it('returns after its time what the caller chose', async () => {
    expect(await withDeadline(never, 1, () => 'late')).to.equal('late');
  });

  it('throws after its time what the caller chose', async () => {
    const late = (): never => {
      throw new RangeError('late');
    };
    expect(await rejectionOf(withDeadline(never, 1, late))).to.be.instanceOf(RangeError);
  });

  it('ignores a failure of the work after its time', async () => {
    let fail: (error: Error) => void = () => undefined;
    const work = new Promise<string>((_, reject) => {
      fail = reject;
    });
    expect(await withDeadline(work, 1, () => 'late')).to.equal('late');
    fail(new Error('too late'));
    // An unhandled rejection would fail the test run in this turn.
    await nextTurn();
  });
});
