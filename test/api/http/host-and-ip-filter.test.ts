import { expect } from 'chai';
import { createCors } from '../../../api/http/cors.ts';
import { createHostAndIpFilter, hostName } from '../../../api/http/host-and-ip-filter.ts';
import { caller, statusAndError } from '../../support/http.ts';
import { useService } from '../../support/service.ts';

describe('the host and IP filter', () => {
  const code = (
    options: Parameters<typeof createHostAndIpFilter>[0],
    caller: { host?: string; address?: string; isProbe?: boolean },
  ) => {
    try {
      createHostAndIpFilter(options)?.({
        host: caller.host,
        address: caller.address ?? '192.0.2.1',
        isProbe: caller.isProbe ?? false,
      });
      return undefined;
    } catch (error) {
      return (error as { status?: number }).status;
    }
  };
  const hosts = { allowedHosts: ['cms.test', '*.shops.test'], ipAllowlist: [] };

  it('does not exist without settings', () => {
    expect(createHostAndIpFilter({ allowedHosts: [], ipAllowlist: [] })).to.equal(undefined);
  });
  for (const [host, status] of [
    ['cms.test', undefined],
    ['CMS.test:3001', undefined],
    ['cms.test.', undefined],
    ['a.shops.test', undefined],
    ['shops.test', 421],
    ['evil.test', 421],
    ['cms.test.evil.test', 421],
    ['notcms.test', 421],
    ['', 421],
  ] as const) {
    it(`${status === undefined ? 'allows the host' : 'answers 421 to the host'} "${host}"`, () => {
      expect(code(hosts, { host })).to.equal(status);
    });
  }
  it('allows probes with any host', () => {
    expect(code(hosts, { host: '10.1.2.3:3001', isProbe: true })).to.equal(undefined);
  });
  it('allows listed addresses only, also for probes', () => {
    const addresses = { allowedHosts: [], ipAllowlist: ['10.0.0.0/8', '2001:db8::1'] };
    expect(['10.1.2.3', '2001:db8::1', '::ffff:10.1.1.1'].map((address) => code(addresses, { address }))).to.deep.equal(
      [undefined, undefined, undefined],
    );
    expect(['11.0.0.1', '2001:db8::2', ''].map((address) => code(addresses, { address, isProbe: true }))).to.deep.equal(
      [403, 403, 403],
    );
  });
  it('ignores the port of a host', () => {
    expect(['a.test', 'a.test:1', '[::1]:3', '[::1]', undefined].map(hostName)).to.deep.equal([
      'a.test',
      'a.test',
      '::1',
      '::1',
      '',
    ]);
  });

  describe('of a service', () => {
    const service = useService({
      environment: { ALLOWED_HOSTS: '127.0.0.1', TRUSTED_PROXIES: '127.0.0.1', IP_ALLOWLIST: '127.0.0.1,192.0.2.0/24' },
    });
    const plain = caller(() => service.service().contentUrl);

    it("answers 403 by the client's address behind a trusted proxy", async () => {
      const reply = await plain('GET', '/api/v1/schemas', undefined, { 'x-forwarded-for': '198.51.100.7' });
      expect(statusAndError(reply)).to.deep.equal([403, 'requests from this address are not allowed']);
      expect((await plain('GET', '/healthz', undefined, { 'x-forwarded-for': '192.0.2.9' })).status).to.equal(200);
    });
    it('answers 421 to another host before all other checks', async () => {
      const url = new URL(service.service().contentUrl);
      const reply = await caller(() => `http://localhost:${url.port}`)('GET', '/no/such/path');
      expect([reply.status, reply.json()['code']]).to.deep.equal([421, 'host_not_served']);
    });
  });
});

describe("origins on tenants' domains", () => {
  const policy = {
    origins: ['https://console.test'],
    allowedDomains: ['shops.test'],
    allowMethods: ['GET'],
    allowHeaders: [],
    exposeHeaders: [],
    maxAge: 1,
  };
  const cors = createCors({
    policy,
    isTenantDomain: (host) => ['a.shops.test', 'b.other.test', 'shops.test'].includes(host),
  });
  const allowed = (origin: string) => cors.simple(origin).includes(origin) && cors.preflight(origin).includes(origin);

  it('are allowed when they end with a listed suffix', () => {
    expect(
      ['https://a.shops.test', 'http://a.shops.test:8080', 'https://shops.test', 'https://console.test'].map(allowed),
    ).to.deep.equal([true, true, true, true]);
  });
  it('are not allowed with another suffix, without a tenant, or in another form', () => {
    expect(
      [
        'https://b.other.test',
        'https://c.shops.test',
        'https://evilshops.test',
        'null',
        'https://a.shops.test/',
        'ftp://a.shops.test',
        'https://a.shops.test.evil.test',
      ].map(allowed),
    ).to.deep.equal(Array.from({ length: 7 }, () => false));
  });
  it('are not allowed without suffixes', () => {
    expect(
      createCors({ policy: { ...policy, allowedDomains: [] }, isTenantDomain: () => true }).simple(
        'https://a.shops.test',
      ),
    ).to.deep.equal([]);
  });
});
