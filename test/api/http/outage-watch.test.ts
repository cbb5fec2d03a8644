import { expect } from 'chai';
import { createOutageWatch } from '../../../api/http/outage-watch.ts';
import { gate } from '../../support/gate.ts';
import { rejectionOf } from '../../support/rejection.ts';

describe('the watch for outages of the database', () => {
  const never = () => new Promise<never>(() => undefined);
  const refuse = () => new Error('service unavailable');

  it('fails the requests that wait while the database does not answer', async () => {
    const watch = createOutageWatch({ isReachable: () => Promise.resolve(false), patienceMs: 0 });
    const outcomes = await Promise.all(
      [1, 2].map(() => watch.run(never, refuse).catch((error: unknown) => (error as Error).message)),
    );
    expect(outcomes).to.deep.equal(['service unavailable', 'service unavailable']);
  });

  it('lets a slow request end while the database answers, and passes its result and error on', async () => {
    let checks = 0;
    const finished = gate<number>();
    const isReachable = () => {
      checks += 1;
      if (checks === 2) finished.open(7);
      return Promise.resolve(true);
    };
    const watch = createOutageWatch({ isReachable, patienceMs: 0 });
    expect(await watch.run(() => finished.opened, refuse)).to.equal(7);
    const failed = await rejectionOf(watch.run(() => Promise.reject(new Error('its own')), refuse));
    expect(failed).to.be.an('error').with.property('message', 'its own');
  });
});
