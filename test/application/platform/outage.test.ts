import { expect } from 'chai';
import { isOutage } from '../../../application/platform/outage.ts';
import { refusal } from '../../../domain/errors.ts';

describe('outages', () => {
  const away = [
    refusal('unavailable'),
    refusal('store_unavailable'),
    Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
    Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' }),
    Object.assign(new Error('sorry, too many clients already'), { code: '53300' }),
    new Error('Connection terminated unexpectedly'),
    new Error('the handler failed', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) }),
  ];
  const wrong = [new Error('no'), refusal('conflict'), Object.assign(new Error('duplicate key'), { code: '23505' }), 'unavailable', undefined, new Error('a', { cause: new Error('b') })];

  it('are errors of refused, lost and overloaded services, also as a cause', () => {
    for (const error of away) expect(isOutage(error), error.message).to.equal(true);
  });

  it('are no errors of the work itself', () => {
    for (const error of wrong) expect(isOutage(error), String(error)).to.equal(false);
  });

  it('are found in causes that go round in a circle', () => {
    const error = new Error('a');
    error.cause = error;
    expect(isOutage(error)).to.equal(false);
  });
});
