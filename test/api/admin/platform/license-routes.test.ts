import { expect } from 'chai';
import { generateKeyPairSync } from 'node:crypto';
import { readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { useDirectory } from '../../../support/directory.ts';
import { eventually } from '../../../support/eventually.ts';
import { statusAndError } from '../../../support/http.ts';
import { LICENSE_PUBLIC_KEY, inDays, licenseEnvironment, licenseToken } from '../../../support/license.ts';
import { useReplicas } from '../../../support/replicas.ts';
import { useService } from '../../../support/service.ts';
import { useLicenseServer } from './license-server.ts';

/** The entitlements of a free installation. */
const FREE = {
  license_module: true,
  capabilities: [],
  plan: 'free',
  expires_at: null,
  grace_until: null,
  license_error: null,
};
const start = new Date('2031-05-01T00:00:00.000Z');
const stranger = generateKeyPairSync('ed25519').privateKey;

describe('a signed license', () => {
  const clock = { now: start };
  const expiresAt = inDays(30, start);
  const service = useService({
    environment: {
      ...licenseEnvironment({
        capabilities: ['apikey-pro', 'cron-pro'],
        expiresAt,
        claims: { plan: 'team', links: { upgrade: 'https://buy.test/more', portal: 'https://buy.test/me' } },
      }),
      JWT_EXPIRY_SECS: '99999999',
    },
    start: { now: () => clock.now },
  });
  const entitlements = async () => (await service.owner('GET', '/api/admin/entitlements')).json();
  const paidKey = () => service.owner('POST', '/api/admin/api-keys', { name: 'limited', monthly_limit: 10 });

  it('determines the entitlements', async () => {
    expect(await entitlements()).to.deep.equal({
      license_module: true,
      capabilities: ['alerts-pro', 'apikey-pro'],
      plan: 'team',
      expires_at: expiresAt.toISOString(),
      grace_until: inDays(37, start).toISOString(),
      license_error: null,
    });
  });

  it('provides links to every signed-in user, and tells who may renew', async () => {
    const reply = await service.owner('GET', '/api/admin/license');
    expect(reply.json()).to.deep.equal({
      links: { upgrade: 'https://buy.test/more', portal: 'https://buy.test/me' },
      renew: true,
    });
  });

  it('lifts limits until it ends; then existing items keep working, and new ones are refused until their number is below the limit', async () => {
    const create = (name: string) =>
      service.owner('POST', '/api/admin/api-keys', { name, roles: ['editor'], scopes: ['*:*'] });
    const made = [];
    for (let n = 1; n <= 6; n += 1) made.push((await create(`key ${n}`)).json<{ id: string; raw_key: string }>());
    clock.now = inDays(37, start);
    const refused = await create('seventh');
    expect([refused.status, refused.json()]).to.deep.equal([
      402,
      { error: 'cap_exceeded', cap: 'apikey.keys', limit: 5, current: 6, upgrade_url: 'https://buy.test/more' },
    ]);
    for (const { raw_key } of made)
      expect((await service.content('GET', '/api/v1/schemas', undefined, { 'x-api-key': raw_key })).status).to.equal(
        200,
      );
    for (const { id } of made.slice(0, 2))
      expect((await service.owner('DELETE', `/api/admin/api-keys/${id}`)).status).to.equal(204);
    expect((await create('under the ceiling')).status).to.equal(201);
    for (const { id } of (await service.owner('GET', '/api/admin/api-keys')).json<{ id: string }[]>())
      await service.owner('DELETE', `/api/admin/api-keys/${id}`);
    clock.now = start;
  });

  it('grants paid capabilities until its end and 7 days of grace; items created with it are kept', async () => {
    expect((await paidKey()).status).to.equal(201);
    clock.now = inDays(36.9, start);
    expect(await entitlements()).to.deep.include({ capabilities: ['alerts-pro', 'apikey-pro'], license_error: null });
    expect((await paidKey()).status).to.equal(201);
    clock.now = inDays(37, start);
    const refused = await paidKey();
    expect([refused.status, refused.json()]).to.deep.equal([
      402,
      {
        error: 'payment_required',
        plugin: 'apikey',
        feature: 'feature:apikey-pro',
        upgrade_url: 'https://buy.test/more',
      },
    ]);
    expect(await entitlements()).to.deep.include({
      capabilities: [],
      plan: 'free',
      expires_at: expiresAt.toISOString(),
      license_error: 'the license has expired',
    });
    const keys = (await service.owner('GET', '/api/admin/api-keys')).json<
      { monthly_limit: number; enabled: boolean }[]
    >();
    expect(keys.map(({ monthly_limit, enabled }) => [monthly_limit, enabled])).to.deep.equal([
      [10, true],
      [10, true],
    ]);
  });
});

describe('an installation without a license', () => {
  const replicas = useReplicas();

  it('runs the free tier and writes no cache', async () => {
    const directory = replicas.directory();
    const { owner } = await replicas.start({ directory });
    expect((await owner('GET', '/api/admin/entitlements')).json()).to.deep.equal(FREE);
    expect((await owner('GET', '/api/admin/license')).json()).to.deep.equal({
      links: { upgrade: 'https://palimpsest.example/upgrade' },
      renew: true,
    });
    expect(await readdir(directory)).not.to.include('license');
  });
});

describe('an invalid license', () => {
  const replicas = useReplicas();

  it('is reported in the startup log and the entitlements, and the free tier runs', async () => {
    const replica = await replicas.start({
      environment: {
        SVC_LICENSE_PUBLIC_KEY: LICENSE_PUBLIC_KEY,
        SVC_LICENSE_KEY: licenseToken({ privateKey: stranger }),
      },
    });
    expect(replica.lines.filter(({ level }) => level === 'error').map(({ message }) => message)).to.deep.equal([
      'license verification failed',
    ]);
    expect((await replica.owner('GET', '/api/admin/entitlements')).json()).to.deep.equal({
      ...FREE,
      license_error: 'license verification failed',
    });
  });
});

describe('the renewal of a license', () => {
  const clock = { now: start };
  const replicas = useReplicas({
    start: { now: () => clock.now },
    environment: {
      SVC_LICENSE_PUBLIC_KEY: LICENSE_PUBLIC_KEY,
      SVC_LICENSE_KEY: licenseToken({ capabilities: ['apikey-pro'], expiresAt: inDays(300, start) }),
      JWT_EXPIRY_SECS: '99999999',
    },
  });

  it('refuses an invalid key, and one past its grace period, and keeps the current license', async () => {
    const { owner } = await replicas.start();
    const renew = (license_key: unknown) => owner('POST', '/api/admin/license/renew', { license_key });
    const unverified = await renew(licenseToken({ privateKey: stranger }));
    expect([unverified.status, unverified.json()]).to.deep.equal([
      400,
      { error: 'license verification failed', code: 'license_unverified' },
    ]);
    const expired = await renew(licenseToken({ expiresAt: inDays(-7, start) }));
    expect([expired.status, expired.json()]).to.deep.equal([
      400,
      { error: 'the license has expired', code: 'license_expired' },
    ]);
    expect((await renew('  ')).status).to.equal(422);
    expect((await renew(undefined)).status).to.equal(422);
    expect((await owner('GET', '/api/admin/entitlements')).json()).to.deep.include({ capabilities: ['apikey-pro'] });
  });

  it('takes effect at once and on all replicas, overrides SVC_LICENSE_KEY, and is recorded without the key', async () => {
    const one = await replicas.start();
    const two = await replicas.start();
    const token = licenseToken({ capabilities: ['content-pro', 'media-pro'], expiresAt: inDays(60, start) });
    const renewed = await one.owner('POST', '/api/admin/license/renew', { license_key: ` ${token}\n` });
    expect([renewed.status, renewed.json()]).to.deep.equal([
      200,
      {
        license_module: true,
        capabilities: ['content-pro', 'media-pro'],
        plan: 'licensed',
        expires_at: inDays(60, start).toISOString(),
        grace_until: inDays(67, start).toISOString(),
        license_error: null,
      },
    ]);
    await eventually(async () => {
      expect((await two.owner('GET', '/api/admin/entitlements')).json()).to.deep.include({
        capabilities: ['content-pro', 'media-pro'],
      });
    });
    const { data } = (await one.owner('GET', '/api/admin/audit?type=LicenseRenewed')).json<{
      data: { id: string }[];
    }>();
    const event = await one.owner('GET', `/api/admin/audit/${data[0]!.id}`);
    expect(event.json<{ data: object }>().data).to.deep.equal({
      plan: 'licensed',
      capabilities: ['content-pro', 'media-pro'],
      expires_at: inDays(60, start).toISOString(),
    });
    expect(event.text).not.to.contain(token.slice(0, 40));
    const rows = await replicas.database.db().query<{ content: unknown }>('select content from operational.license');
    expect(JSON.stringify(rows)).not.to.contain(token.slice(-40));
  });

  it('survives a restart, also on a machine without a cache, until it ends; then SVC_LICENSE_KEY applies again', async () => {
    const fresh = await replicas.start();
    expect((await fresh.owner('GET', '/api/admin/entitlements')).json()).to.deep.include({
      capabilities: ['content-pro', 'media-pro'],
    });
    clock.now = inDays(60.1, start);
    const after = await replicas.start();
    expect((await after.owner('GET', '/api/admin/entitlements')).json()).to.deep.include({
      capabilities: ['apikey-pro'],
    });
  });
});

describe('an opaque license key', () => {
  const clock = { now: start };
  const server = useLicenseServer();
  const replicas = useReplicas({
    start: { now: () => clock.now },
    environment: {
      SVC_LICENSE_PUBLIC_KEY: LICENSE_PUBLIC_KEY,
      SVC_LICENSE_KEY: 'svc_live_first',
      JWT_EXPIRY_SECS: '99999999',
    },
  });
  const begin = (environment: Readonly<Record<string, string>> = {}, directory?: string) =>
    replicas.start({ environment: { SVC_LICENSE_SERVER_URL: server.url(), ...environment }, directory });
  const directory = useDirectory();
  const cacheFile = () => join(directory(), 'license', 'license.json');

  it('runs the free tier without a reachable server and a cached token, and reports the reason', async () => {
    server.disconnect();
    const replica = await begin({}, directory());
    const answer = (await replica.owner('GET', '/api/admin/entitlements')).json<{ license_error: string }>();
    expect(answer).to.deep.include({ ...FREE, license_error: answer.license_error });
    expect(answer.license_error).to.match(/^the license server could not be reached: /);
    const unset = await replicas.start();
    expect((await unset.owner('GET', '/api/admin/entitlements')).json()).to.deep.include({
      capabilities: [],
      license_error: 'SVC_LICENSE_SERVER_URL is not set: the license key cannot be exchanged',
    });
  });

  it('runs the free tier when the server refuses it, and reports this', async () => {
    server.answerWith(403, { error: 'no such key' });
    const replica = await begin({}, directory());
    expect((await replica.owner('GET', '/api/admin/entitlements')).json()).to.deep.include({
      capabilities: [],
      license_error: 'the license server refused the license key (403)',
    });
  });

  it('is never sent after a redirect; a token of another signer is refused', async () => {
    server.answerWith(307, {}, { location: `${server.url()}/elsewhere` });
    const asked = server.requests.length;
    const replica = await begin({}, directory());
    expect((await replica.owner('GET', '/api/admin/entitlements')).json()).to.deep.include({
      license_error: 'the license server could not be reached: too many redirects',
    });
    expect(server.requests.slice(asked).map(({ path }) => path)).to.deep.equal(['/v1/exchange']);
    server.answerWith(200, { token: licenseToken({ privateKey: stranger }) });
    const forged = await begin({}, directory());
    expect((await forged.owner('GET', '/api/admin/entitlements')).json()).to.deep.include({
      capabilities: [],
      license_error: 'license verification failed',
    });
  });

  it('is exchanged with a random installation id for a token, whose cache is readable by its owner only', async () => {
    server.answerWith(200, { token: licenseToken({ capabilities: ['flow-pro'], expiresAt: inDays(30, start) }) });
    const replica = await begin({}, directory());
    expect((await replica.owner('GET', '/api/admin/entitlements')).json()).to.deep.include({
      capabilities: ['flow-pro'],
      license_error: null,
    });
    const { path, license_key, install_id } = server.requests.at(-1)!;
    expect([path, license_key]).to.deep.equal(['/v1/exchange', 'svc_live_first']);
    expect(install_id).to.match(/^[0-9a-f-]{36}$/);
    expect(new Set(server.requests.map((body) => body['install_id']))).to.have.length(1);
    expect([(await stat(cacheFile())).mode & 0o777, (await stat(dirname(cacheFile()))).mode & 0o777]).to.deep.equal([
      0o600, 0o700,
    ]);
    const text = await readFile(cacheFile(), 'utf8');
    expect(JSON.parse(text)).to.deep.include({ install_id });
    expect(text).not.to.contain('svc_live_first');
  });

  it('is not sent again while the token is valid: the service starts offline, with the database or the cache alone', async () => {
    server.disconnect();
    const asked = server.requests.length;
    clock.now = inDays(22.9, start);
    const again = await begin({}, directory());
    expect((await again.owner('GET', '/api/admin/entitlements')).json()).to.deep.include({
      capabilities: ['flow-pro'],
      license_error: null,
    });
    const other = await begin();
    expect((await other.owner('GET', '/api/admin/entitlements')).json()).to.deep.include({
      capabilities: ['flow-pro'],
    });
    await replicas.database.db().query('delete from operational.license');
    const alone = await begin({}, directory());
    expect((await alone.owner('GET', '/api/admin/entitlements')).json()).to.deep.include({
      capabilities: ['flow-pro'],
    });
    expect(server.requests).to.have.length(asked);
  });

  it('is exchanged by the 6-hourly check when the token ends within 7 days, for all replicas at once', async () => {
    server.answerWith(200, {
      token: licenseToken({ capabilities: ['flow-pro', 'media-pro'], expiresAt: inDays(60, start) }),
    });
    clock.now = inDays(22.9, start);
    const one = await begin({}, directory());
    const two = await begin();
    const asked = server.requests.length;
    for (const { intervals } of [one, two]) expect(intervals).to.include(6 * 3_600_000);
    await one.tick();
    expect(server.requests).to.have.length(asked);
    clock.now = inDays(23, start);
    await Promise.all([one.tick(), two.tick()]);
    for (const replica of [one, two]) {
      await eventually(async () => {
        expect((await replica.owner('GET', '/api/admin/entitlements')).json()).to.deep.include({
          capabilities: ['flow-pro', 'media-pro'],
          expires_at: inDays(60, start).toISOString(),
        });
      });
    }
    expect(server.requests).to.have.length(asked + 1);
  });

  it('runs without a server until the grace period of the cached token ends, then the free tier', async () => {
    server.disconnect();
    clock.now = inDays(66.9, start);
    const replica = await begin({}, directory());
    expect((await replica.owner('GET', '/api/admin/entitlements')).json()).to.deep.include({
      capabilities: ['flow-pro', 'media-pro'],
      grace_until: inDays(67, start).toISOString(),
    });
    clock.now = inDays(67, start);
    expect((await replica.owner('GET', '/api/admin/entitlements')).json()).to.deep.include({ capabilities: [] });
  });

  it('is exchanged again after it was replaced, and a damaged cache is ignored', async () => {
    server.answerWith(200, { token: licenseToken({ capabilities: ['schema-pro'], expiresAt: inDays(200, start) }) });
    await writeFile(cacheFile(), '{"install_id": 7, "token"');
    const replica = await begin({ SVC_LICENSE_KEY: 'svc_live_second' }, directory());
    expect((await replica.owner('GET', '/api/admin/entitlements')).json()).to.deep.include({
      capabilities: ['schema-pro'],
    });
    expect(server.requests.at(-1)).to.include({ license_key: 'svc_live_second' });
    const before = server.requests.length;
    await begin({ SVC_LICENSE_KEY: 'svc_live_third' }, directory());
    expect(server.requests.slice(before).map(({ license_key }) => license_key)).to.deep.equal(['svc_live_third']);
  });

  it('can be renewed through the route: 400 when refused, 502 when unreachable, else at once; the server then gets the new key', async () => {
    const replica = await begin({ SVC_LICENSE_KEY: 'svc_live_third' }, directory());
    const renew = () => replica.owner('POST', '/api/admin/license/renew', { license_key: 'svc_live_by_hand' });
    server.answerWith(404, {});
    expect((await renew()).json()).to.deep.equal({
      error: 'the license server refused the license key (404)',
      code: 'license_refused',
    });
    server.disconnect();
    expect((await renew()).status).to.equal(502);
    server.answerWith(200, { token: licenseToken({ capabilities: ['webhook-pro'], expiresAt: inDays(100, start) }) });
    expect((await renew()).json()).to.deep.include({ capabilities: ['webhook-pro'] });
    clock.now = inDays(95, start);
    server.answerWith(200, { token: licenseToken({ capabilities: ['webhook-pro'], expiresAt: inDays(130, start) }) });
    await replica.tick();
    expect((await replica.owner('GET', '/api/admin/entitlements')).json()).to.deep.include({
      expires_at: inDays(130, start).toISOString(),
    });
    expect(server.requests.at(-1)).to.include({ license_key: 'svc_live_by_hand' });
    clock.now = inDays(137, start);
    server.answerWith(200, { token: licenseToken({ capabilities: ['flow-pro'], expiresAt: inDays(200, start) }) });
    await replica.tick();
    expect(server.requests.at(-1)).to.include({ license_key: 'svc_live_third' });
    expect((await replica.owner('GET', '/api/admin/entitlements')).json()).to.deep.include({
      capabilities: ['flow-pro'],
      license_error: null,
    });
  });
});

describe('a build without license support', () => {
  const service = useService({ environment: licenseEnvironment(), start: { licenseModule: false } });

  it('answers 404 on both license routes and runs the free tier', async () => {
    for (const [method, path] of [
      ['GET', '/api/admin/license'],
      ['POST', '/api/admin/license/renew'],
    ] as const) {
      const reply = await service.owner(method, path, method === 'POST' ? { license_key: 'x' } : undefined);
      expect(statusAndError(reply)).to.deep.equal([404, 'The requested endpoint does not exist.']);
    }
    expect((await service.owner('GET', '/api/admin/entitlements')).json()).to.deep.equal({
      ...FREE,
      license_module: false,
    });
  });
});
