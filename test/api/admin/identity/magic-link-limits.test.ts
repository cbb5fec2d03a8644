import { expect } from 'chai';
import { PROTECTIONS } from '../../../../domain/traffic/protections.ts';
import { statusAndError } from '../../../support/http.ts';
import { newUser } from '../../../support/identity-process.ts';
import { HIGH_SIGN_IN_LIMITS } from '../../../support/protections.ts';
import { REQUEST, VERIFY, useTenants } from './magic-link-set-up.ts';

describe('limits of magic-link sign-in', function () {
  this.timeout(30_000);
  const shipped = useTenants({ protections: HIGH_SIGN_IN_LIMITS });

  it('send three links to an address in 15 minutes, and count unknown addresses in the same way', async () => {
    const { email } = await newUser(shipped.admin, shipped.owner());
    for (const address of [email, shipped.stranger()]) {
      for (let n = 0; n < 3; n += 1)
        expect((await shipped.ask(n === 1 ? address.toUpperCase() : address)).status).to.equal(200);
      const over = await shipped.ask(address);
      expect(statusAndError(over)).to.deep.equal([429, 'too many magic link requests - try again in 15 minutes']);
      expect(Number(over.headers['retry-after'])).to.be.within(800, 900);
    }
    expect(shipped.mailsTo(email)).to.have.length(3);
  });

  it('allow 60 requests per client address in 15 minutes', async () => {
    expect(PROTECTIONS['magic-link.request-ip']).to.deep.equal({ requests: 60, windowSeconds: 900 });
    await shipped.database.db().execute('truncate operational.rate_counters');
    for (let n = 0; n < 60; n += 1) expect((await shipped.ask(shipped.stranger())).status).to.equal(200);
    expect(statusAndError(await shipped.ask(shipped.stranger()))).to.deep.equal([
      429,
      'too many magic link requests - try again in 15 minutes',
    ]);
  });

  it('allow 120 redemptions per client address in 15 minutes', async () => {
    for (let n = 0; n < 120; n += 1) expect((await shipped.redeem('x')).status).to.equal(400);
    const over = await shipped.redeem('x');
    expect(statusAndError(over)).to.deep.equal([429, 'too many magic link attempts - try again later']);
    expect(over.headers).to.have.property('retry-after');
  });

  for (const [path, burst, perSecond] of [
    [REQUEST, 10, 5],
    [VERIFY, 20, 10],
  ] as const) {
    it(`allow ${burst} calls of ${path} at once and then ${perSecond} a second, also invalid ones`, async () => {
      shipped.process().advance(60_000);
      const replies = await Promise.all(
        Array.from({ length: burst + 2 * perSecond }, () => shipped.admin('POST', path, {})),
      );
      const refusals = replies.filter(({ status }) => status === 429);
      expect(refusals.length, 'refused calls, when the calls took at most a second').to.be.within(
        perSecond,
        2 * perSecond,
      );
      const [over] = refusals;
      expect(over && statusAndError(over)).to.deep.equal([429, 'rate limit exceeded']);
      expect(over?.json()).to.include({ remaining: 0, limit: burst }).and.to.have.property('reset_at');
      expect(over?.headers['retry-after']).to.equal('1');
    });
  }
});
