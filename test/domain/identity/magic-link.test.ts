import { expect } from 'chai';
import {
  autoCreateRoles,
  isRedeemableOn,
  linkLifetime,
  linkTarget,
  magicLinkUrl,
} from '../../../domain/identity/magic-link.ts';

describe('a magic link', () => {
  it('lives between 30 seconds and one hour, for every value of the setting', () => {
    expect([0, 29, 30, 600, 3600, 3601, 1_000_000].map(linkLifetime)).to.deep.equal([
      30, 30, 30, 600, 3600, 3600, 3600,
    ]);
  });

  it('gives new accounts no roles when the list of roles contains admin or super_admin', () => {
    expect(autoCreateRoles(['editor', 'reviewer'])).to.deep.equal(['editor', 'reviewer']);
    for (const role of ['admin', 'super_admin']) expect(autoCreateRoles(['editor', role])).to.deep.equal([]);
  });

  it('has the path of the console URL, also on a listed host', () => {
    const asked = {
      consoleUrl: 'https://console.test/cms',
      allowedHosts: ['login.test'],
      hostTenant: undefined,
      tenant: 'default',
    };
    expect(magicLinkUrl(linkTarget({ ...asked, host: 'elsewhere.test' }).base, 'T')).to.equal(
      'https://console.test/cms/auth/magic-link/verify?token=T',
    );
    expect(linkTarget({ ...asked, host: 'login.test' })).to.deep.equal({
      base: 'https://login.test/cms',
      host: 'login.test',
    });
  });

  it('works on the host that it is bound to, else on every host that does not resolve to another tenant', () => {
    const bound = { host: 'login.test', tenant: 'acme' };
    expect(isRedeemableOn(bound, { host: 'login.test', hostTenant: 'acme' })).to.equal(true);
    expect(isRedeemableOn(bound, { host: 'acme.test', hostTenant: 'acme' })).to.equal(false);
    expect(
      isRedeemableOn(bound, { host: 'login.test', hostTenant: 'other' }),
      'the domain moved to another tenant',
    ).to.equal(false);
    expect(
      isRedeemableOn(bound, { host: 'login.test', hostTenant: undefined }),
      'the domain was taken from the tenant',
    ).to.equal(false);
    const free = { host: null, tenant: 'acme' };
    expect(
      ['acme', undefined, 'other'].map((hostTenant) => isRedeemableOn(free, { host: 'any.test', hostTenant })),
    ).to.deep.equal([true, true, false]);
  });
});
