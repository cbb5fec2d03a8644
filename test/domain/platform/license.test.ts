import { expect } from 'chai';
import type { License } from '../../../domain/platform/license.ts';
import { isDue, parseLicenseClaims, phaseOf } from '../../../domain/platform/license.ts';

const CLAIMS = { iss: 'palimpsest-license', sub: 'acme', iat: 1_800_000_000, exp: 1_900_000_000, capabilities: ['flow-pro', 'content-pro'] };
const EXPIRES = new Date(1_900_000_000_000);
const DAY = 86_400_000;

describe('license claims', () => {
  it('give subject, times, capabilities and links', () => {
    expect(parseLicenseClaims({ ...CLAIMS, plan: 'team', links: { upgrade: 'https://buy.test/more' } })).to.deep.equal({
      subject: 'acme', issuedAt: new Date(1_800_000_000_000), expiresAt: EXPIRES, capabilities: ['content-pro', 'flow-pro'], plan: 'team', links: { upgrade: 'https://buy.test/more' },
    } satisfies License);
  });

  it('name the plan licensed where they name none', () => {
    expect(parseLicenseClaims(CLAIMS)?.plan).to.equal('licensed');
  });

  it('read cron-pro as alerts-pro, once', () => {
    expect(parseLicenseClaims({ ...CLAIMS, capabilities: ['cron-pro'] })?.capabilities).to.deep.equal(['alerts-pro']);
    expect(parseLicenseClaims({ ...CLAIMS, capabilities: ['cron-pro', 'alerts-pro'] })?.capabilities).to.deep.equal(['alerts-pro']);
  });

  it('pass over capabilities of other versions', () => {
    expect(parseLicenseClaims({ ...CLAIMS, capabilities: ['teleport-pro', 7, 'constructor', 'media-pro'] })?.capabilities).to.deep.equal(['media-pro']);
  });

  it('keep web addresses among the links only', () => {
    expect(parseLicenseClaims({ ...CLAIMS, links: { upgrade: 'javascript:alert(1)', docs: 'https://docs.test/', n: 7 } })?.links).to.deep.equal({ docs: 'https://docs.test/' });
    expect(parseLicenseClaims({ ...CLAIMS, links: 'https://docs.test/' })?.links).to.deep.equal({});
  });

  const wrong: Readonly<Record<string, object>> = {
    'another issuer': { iss: 'palimpsest' }, 'no subject': { sub: '' }, 'no end': { exp: undefined }, 'an end that is text': { exp: '1900000000' },
    'an end beyond all time': { exp: 1e300 }, 'no begin': { iat: undefined }, 'no list of capabilities': { capabilities: 'flow-pro' },
  };
  for (const [what, claims] of Object.entries(wrong)) {
    it(`are refused with ${what}`, () => {
      expect(parseLicenseClaims({ ...CLAIMS, ...claims })).to.equal(undefined);
    });
  }
});

describe('a license in time', () => {
  const at = (days: number, ms = 0): Date => new Date(EXPIRES.getTime() + days * DAY + ms);

  it('is active to its end, runs on for 7 days of grace, then has lapsed', () => {
    expect([at(-1), at(0, -1), at(0), at(7, -1), at(7), at(400)].map((now) => phaseOf({ expiresAt: EXPIRES }, now)))
      .to.deep.equal(['active', 'active', 'grace', 'grace', 'lapsed', 'lapsed']);
  });

  it('is due for renewal within 7 days of its end', () => {
    expect([at(-8), at(-7, -1), at(-7), at(0), at(8)].map((now) => isDue({ expiresAt: EXPIRES }, now))).to.deep.equal([false, false, true, true, true]);
  });
});
