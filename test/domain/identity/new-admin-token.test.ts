import { expect } from 'chai';
import { expiryOfAdminToken } from '../../../domain/identity/new-admin-token.ts';

describe('the expiry of an admin token', () => {
  const now = new Date('2026-11-25T00:00:00.000Z');
  const before = { issuedAt: new Date('2026-11-20T00:00:00.000Z'), expiresAt: new Date('2026-11-27T00:00:00.000Z') };

  it('is 30 days after the creation by default', () => {
    expect(expiryOfAdminToken({ requested: undefined, before: undefined, now }).toISOString()).to.equal(
      '2026-12-25T00:00:00.000Z',
    );
  });
  it('gives a rotated token the lifetime of the replaced secret', () => {
    expect(expiryOfAdminToken({ requested: undefined, before, now }).toISOString()).to.equal(
      '2026-12-02T00:00:00.000Z',
    );
  });
  it('is refused when it is more than 90 days ahead', () => {
    expect(() => expiryOfAdminToken({ requested: new Date('2027-02-24T00:00:00.000Z'), before, now })).to.throw(
      'an admin token expires at most 90 days away',
    );
  });
});
