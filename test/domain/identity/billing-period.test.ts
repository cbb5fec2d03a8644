import { expect } from 'chai';
import { billingPeriod, countsTowardsUsage } from '../../../domain/identity/billing-period.ts';

describe('the monthly usage of an API key', () => {
  it('is counted by UTC calendar month', () => {
    expect(billingPeriod(new Date('2026-12-01T00:30:00.000+01:00'))).to.equal('2026-11');
  });

  it('does not include refused requests', () => {
    const statuses = [200, 204, 304, 400, 401, 402, 403, 404, 429, 500, 503];
    expect(statuses.filter(countsTowardsUsage)).to.deep.equal([200, 204, 304, 400, 402, 404, 500, 503]);
  });
});
