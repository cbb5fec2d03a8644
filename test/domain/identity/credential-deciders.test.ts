import { expect } from 'chai';
import { hasCode } from '../../../domain/errors.ts';
import type { AdminTokenCommand } from '../../../domain/identity/admin-token.ts';
import { adminToken, decideAdminToken } from '../../../domain/identity/admin-token.ts';
import type { AdminTokenEvent } from '../../../domain/identity/admin-token-events.ts';
import type { ApiKeyCommand } from '../../../domain/identity/api-key.ts';
import { apiKey, decideApiKey, needsPaidLimit } from '../../../domain/identity/api-key.ts';
import type { ApiKeyEvent } from '../../../domain/identity/api-key-events.ts';
import { billingPeriod, countsAsUse } from '../../../domain/identity/billing-period.ts';
import { expiryOfAdminToken } from '../../../domain/identity/new-admin-token.ts';

type Case<Event, Command> = { readonly given: readonly Event[]; readonly when: Command; readonly then: readonly Event[] | string };

function holds<Event, Command>(cases: Readonly<Record<string, Case<Event, Command>>>, run: (given: readonly Event[], when: Command) => readonly Event[]): void {
  for (const [title, { given, when, then }] of Object.entries(cases)) {
    it(title, () => {
      if (typeof then !== 'string') {
        expect(run(given, when)).to.deep.equal(then);
        return;
      }
      expect(() => run(given, when)).to.throw().that.satisfies((error: unknown) => hasCode(error, then as 'api_key_not_found'));
    });
  }
}

describe('decisions on an API key', () => {
  const created: ApiKeyEvent = {
    type: 'ApiKeyCreated',
    data: { key_id: 'k', name: 'site', prefix: 'abcdefgh', key_hash: 'h1', scopes: [], roles: ['editor'], schemas: [], expires_at: null, monthly_limit: 10 },
  };
  const rotated: ApiKeyEvent = { type: 'ApiKeyRotated', data: { prefix: 'ijklmnop', key_hash: 'h2', previous_until: null } };
  const revoked: ApiKeyEvent = { type: 'ApiKeyRevoked', data: {} };
  const deleted: ApiKeyEvent = { type: 'ApiKeyDeleted', data: {} };
  const limited: ApiKeyEvent = { type: 'ApiKeyMonthlyLimitChanged', data: { monthly_limit: 20 } };
  const rotate = (roles: readonly string[]): ApiKeyCommand => ({ kind: 'rotate', event: rotated.data, maker: { roles } });
  const limit = (monthlyLimit: number): ApiKeyCommand => ({ kind: 'set_monthly_limit', monthlyLimit });
  holds<ApiKeyEvent, ApiKeyCommand>({
    'rotates for who holds its roles': { given: [created], when: rotate(['admin', 'editor']), then: [rotated] },
    'rotates for a super admin': { given: [created], when: rotate(['super_admin']), then: [rotated] },
    'rotates for nobody who lacks them': { given: [created], when: rotate(['admin']), then: 'cannot_grant_roles' },
    'rotates no revoked key': { given: [created, revoked], when: rotate(['super_admin']), then: 'api_key_revoked' },
    'rotates no deleted key': { given: [created, deleted], when: rotate(['super_admin']), then: 'api_key_not_found' },
    'sets a limit': { given: [created], when: limit(20), then: [limited] },
    'sets the limit that is there to no effect': { given: [created, limited], when: limit(20), then: [] },
    'sets no limit of what never was': { given: [], when: limit(20), then: 'api_key_not_found' },
    'revokes once': { given: [created, revoked], when: { kind: 'revoke' }, then: [] },
  }, (given, when) => decideApiKey(when, given.reduce(apiKey.evolve, apiKey.initialState())));

  it('asks a license for a first limit and a raise only', () => {
    expect([needsPaidLimit(1, 0), needsPaidLimit(11, 10), needsPaidLimit(10, 10), needsPaidLimit(9, 10), needsPaidLimit(0, 10), needsPaidLimit(0, 0)]).to.deep.equal([true, true, false, false, false, false]);
  });

  it('counts by UTC calendar month what was not refused', () => {
    expect(billingPeriod(new Date('2026-12-01T00:30:00.000+01:00'))).to.equal('2026-11');
    expect([200, 204, 304, 400, 401, 402, 403, 404, 429, 500, 503].filter(countsAsUse)).to.deep.equal([200, 204, 304, 400, 402, 404, 500, 503]);
  });
});

describe('decisions on an admin token', () => {
  const issued = { token_hash: 'h1', issued_by: 'u', issued_at: '2026-11-20T00:00:00.000Z', expires_at: '2026-12-20T00:00:00.000Z' };
  const created: AdminTokenEvent = { type: 'AdminTokenCreated', data: { ...issued, token_id: 't', name: 'ci', grants: ['schemas:read'] } };
  const rotated: AdminTokenEvent = { type: 'AdminTokenRotated', data: { ...issued, token_hash: 'h2' } };
  const revoked: AdminTokenEvent = { type: 'AdminTokenRevoked', data: {} };
  const rotate: AdminTokenCommand = { kind: 'rotate', event: rotated.data };
  holds<AdminTokenEvent, AdminTokenCommand>({
    'creates': { given: [], when: { kind: 'create', event: created.data }, then: [created] },
    'rotates': { given: [created], when: rotate, then: [rotated] },
    'rotates no revoked one': { given: [created, rotated, revoked], when: rotate, then: 'admin_token_revoked' },
    'rotates nothing that never was': { given: [], when: rotate, then: 'admin_token_not_found' },
    'revokes': { given: [created, rotated], when: { kind: 'revoke' }, then: [revoked] },
    'revokes once': { given: [created, revoked], when: { kind: 'revoke' }, then: [] },
    'revokes nothing that never was': { given: [], when: { kind: 'revoke' }, then: 'admin_token_not_found' },
  }, (given, when) => decideAdminToken(when, given.reduce(adminToken.evolve, adminToken.initialState())));

  it('gives a replacement the time that the secret before it was made for', () => {
    const now = new Date('2026-11-25T00:00:00.000Z');
    const before = { issuedAt: new Date('2026-11-20T00:00:00.000Z'), expiresAt: new Date('2026-11-27T00:00:00.000Z') };
    expect(expiryOfAdminToken({ asked: undefined, before: undefined, now }).toISOString()).to.equal('2026-12-25T00:00:00.000Z');
    expect(expiryOfAdminToken({ asked: undefined, before, now }).toISOString()).to.equal('2026-12-02T00:00:00.000Z');
    expect(() => expiryOfAdminToken({ asked: new Date('2027-02-24T00:00:00.000Z'), before, now })).to.throw('an admin token expires at most 90 days away');
  });
});
