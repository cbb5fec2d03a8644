import { expect } from 'chai';
import { autoCreateRoles, fitsHost, linkLifetime, linkPlace, magicLink } from '../../../domain/identity/magic-link.ts';

describe('a magic link', () => {
  it('lives between half a minute and an hour, whatever the setting says', () => {
    expect([0, 29, 30, 600, 3600, 3601, 1_000_000].map(linkLifetime)).to.deep.equal([30, 30, 30, 600, 3600, 3600, 3600]);
  });

  it('drops the whole list of roles for new accounts when it names admin or super_admin', () => {
    expect(autoCreateRoles(['editor', 'reviewer'])).to.deep.equal(['editor', 'reviewer']);
    for (const role of ['admin', 'super_admin']) expect(autoCreateRoles(['editor', role])).to.deep.equal([]);
  });

  it('stands below the path of the console, on a listed host too', () => {
    const asked = { consoleUrl: 'https://console.test/cms', allowedHosts: ['login.test'], hostTenant: undefined, tenant: 'default' };
    expect(magicLink(linkPlace({ ...asked, host: 'elsewhere.test' }).base, 'T')).to.equal('https://console.test/cms/auth/magic-link/verify?token=T');
    expect(linkPlace({ ...asked, host: 'login.test' })).to.deep.equal({ base: 'https://login.test/cms', host: 'login.test' });
  });

  it('fits the host that it was built for, or any that resolves no other tenant', () => {
    const bound = { host: 'login.test', tenant: 'acme' };
    expect(fitsHost(bound, { host: 'login.test', hostTenant: 'acme' })).to.equal(true);
    expect(fitsHost(bound, { host: 'acme.test', hostTenant: 'acme' })).to.equal(false);
    expect(fitsHost(bound, { host: 'login.test', hostTenant: 'other' }), 'the domain moved to another tenant').to.equal(false);
    expect(fitsHost(bound, { host: 'login.test', hostTenant: undefined }), 'the domain was taken from the tenant').to.equal(false);
    const free = { host: null, tenant: 'acme' };
    expect(['acme', undefined, 'other'].map((hostTenant) => fitsHost(free, { host: 'any.test', hostTenant }))).to.deep.equal([true, true, false]);
  });
});
