import { expect } from 'chai';
import { DAY_MS } from '../../../domain/durations.ts';
import { type License, isRenewalDue, parseLicenseClaims, phaseOf } from '../../../domain/platform/license.ts';

const CLAIMS = {
  iss: 'palimpsest-license',
  sub: 'acme',
  iat: 1_800_000_000,
  exp: 1_900_000_000,
  capabilities: ['flow-pro', 'content-pro'],
};
const EXPIRES = new Date(1_900_000_000_000);

describe('the claims of a license token', () => {
  it('are parsed into subject, times, capabilities, plan and links', () => {
    expect(parseLicenseClaims({ ...CLAIMS, plan: 'team', links: { upgrade: 'https://buy.test/more' } })).to.deep.equal({
      subject: 'acme',
      issuedAt: new Date(1_800_000_000_000),
      expiresAt: EXPIRES,
      capabilities: ['content-pro', 'flow-pro'],
      plan: 'team',
      links: { upgrade: 'https://buy.test/more' },
    } satisfies License);
  });

  it('have the plan licensed when they name no plan', () => {
    expect(parseLicenseClaims(CLAIMS)?.plan).to.equal('licensed');
  });

  it('grant alerts-pro once for cron-pro, with or without alerts-pro', () => {
    expect(parseLicenseClaims({ ...CLAIMS, capabilities: ['cron-pro'] })?.capabilities).to.deep.equal(['alerts-pro']);
    expect(parseLicenseClaims({ ...CLAIMS, capabilities: ['cron-pro', 'alerts-pro'] })?.capabilities).to.deep.equal([
      'alerts-pro',
    ]);
  });

  it('are accepted with unknown capabilities, which are ignored', () => {
    expect(
      parseLicenseClaims({ ...CLAIMS, capabilities: ['teleport-pro', 7, 'constructor', 'media-pro'] })?.capabilities,
    ).to.deep.equal(['media-pro']);
  });

  it('keep only links that are http or https URLs', () => {
    expect(
      parseLicenseClaims({ ...CLAIMS, links: { upgrade: 'javascript:alert(1)', docs: 'https://docs.test/', n: 7 } })
        ?.links,
    ).to.deep.equal({ docs: 'https://docs.test/' });
    expect(parseLicenseClaims({ ...CLAIMS, links: 'https://docs.test/' })?.links).to.deep.equal({});
  });

  const invalid: Readonly<Record<string, object>> = {
    'another issuer': { iss: 'palimpsest' },
    'no subject': { sub: '' },
    'no expiry': { exp: undefined },
    'an expiry that is text': { exp: '1900000000' },
    'an expiry that is out of range': { exp: 1e300 },
    'no time of issue': { iat: undefined },
    'no list of capabilities': { capabilities: 'flow-pro' },
  };
  for (const [what, claims] of Object.entries(invalid)) {
    it(`are refused with ${what}`, () => {
      expect(parseLicenseClaims({ ...CLAIMS, ...claims })).to.equal(undefined);
    });
  }
});

describe('the phase of a license', () => {
  const at = (days: number, ms = 0): Date => new Date(EXPIRES.getTime() + days * DAY_MS + ms);

  it('is active until the expiry, grace for 7 days, then lapsed', () => {
    expect(
      [at(-1), at(0, -1), at(0), at(7, -1), at(7), at(400)].map((now) => phaseOf({ expiresAt: EXPIRES }, now)),
    ).to.deep.equal(['active', 'active', 'grace', 'grace', 'lapsed', 'lapsed']);
  });

  it('makes a renewal due from 7 days before the expiry on', () => {
    expect(
      [at(-8), at(-7, -1), at(-7), at(0), at(8)].map((now) => isRenewalDue({ expiresAt: EXPIRES }, now)),
    ).to.deep.equal([false, false, true, true, true]);
  });
});
