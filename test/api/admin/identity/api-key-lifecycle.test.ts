import { expect } from 'chai';
import { FREE_TIER } from '../../../../application/ports/entitlements.ts';
import { DAY_MS } from '../../../../domain/durations.ts';
import type { Capability } from '../../../../domain/platform/license.ts';
import { type Reply, statusAndError } from '../../../support/http.ts';
import { bearer, newUser, signInAs, useOwnedIdentity } from '../../../support/identity-process.ts';

type Key = {
  readonly id: string;
  readonly raw_key: string;
  readonly prefix: string;
  readonly monthly_limit: number;
  readonly expires_at: string | null;
};

const KEYS = '/api/admin/api-keys';
const unauthenticated = [401, 'authentication required'];

describe('the lifecycle of an API key', () => {
  let licensed = true;
  const { admin, content, process, owner } = useOwnedIdentity({
    expirySeconds: 99_999_999,
    entitlements: { ...FREE_TIER, has: (capability: Capability) => licensed && capability === 'apikey-pro' },
  });
  afterEach(() => {
    licensed = true;
  });
  const call = (method: string, path: string, body?: unknown, headers = {}) =>
    admin(method, path, body, { ...bearer(owner.token), ...headers });
  const make = async (body: Readonly<Record<string, unknown>> = {}): Promise<Key> => {
    const reply = await call('POST', KEYS, { name: 'site', scopes: ['content:read'], ...body });
    if (reply.status !== 201) throw new Error(reply.text);
    return reply.json<Key>();
  };
  const read = (raw: string, path = '/api/v1/content/post') => content('GET', path, undefined, { 'x-api-key': raw });
  const rotate = (id: string, body?: unknown) => call('POST', `${KEYS}/${id}/rotate`, body);
  const setLimit = (id: string, monthly_limit: unknown) =>
    call('PATCH', `${KEYS}/${id}/monthly-limit`, { monthly_limit });
  const usageOf = async (id: string) => (await call('GET', `/api/admin/usage/api-key/${id}`)).json();
  const periodNow = () => process().now().toISOString().slice(0, 7);

  describe('rotation', () => {
    it('answers the key with another secret and refuses the old one at once', async () => {
      const { raw_key: old, ...key } = await make();
      const reply = await rotate(key.id);
      const { raw_key, ...rotated } = reply.json<Key>();
      expect([reply.status, reply.headers['cache-control']]).to.deep.equal([200, 'no-store']);
      expect(rotated).to.deep.equal({ ...key, prefix: raw_key.slice(4, 12) });
      expect(raw_key)
        .to.match(/^svc_[0-9A-Za-z]{40}$/)
        .and.to.not.equal(old);
      expect(statusAndError(await read(old))).to.deep.equal(unauthenticated);
      expect((await read(raw_key)).status).to.equal(200);
      expect((await call('GET', KEYS)).json<Key[]>()[0]).to.deep.equal(rotated);
    });

    it('accepts the old secret for grace_seconds, but no older one', async () => {
      const first = await make();
      const second = (await rotate(first.id, { grace_seconds: 3_600 })).json<Key>();
      expect([(await read(first.raw_key)).status, (await read(second.raw_key)).status]).to.deep.equal([200, 200]);
      const third = (await rotate(first.id, { grace_seconds: 604_800 })).json<Key>();
      expect(statusAndError(await read(first.raw_key)), 'two rotations ago').to.deep.equal(unauthenticated);
      expect([(await read(second.raw_key)).status, (await read(third.raw_key)).status]).to.deep.equal([200, 200]);
      process().advance(604_801_000);
      expect(statusAndError(await read(second.raw_key)), 'the grace is over, also where it was cached').to.deep.equal(
        unauthenticated,
      );
      expect((await read(third.raw_key)).status).to.equal(200);
      await call('POST', `${KEYS}/${first.id}/revoke`);
      expect(statusAndError(await read(third.raw_key))).to.deep.equal(unauthenticated);
      expect(statusAndError(await rotate(first.id))).to.deep.equal([409, 'the api key is revoked']);
    });

    it('accepts 0 to 604800 seconds, for an existing key', async () => {
      const { id } = await make();
      for (const grace_seconds of [-1, 604_801, 1.5, '60', null])
        expect(statusAndError(await rotate(id, { grace_seconds })), String(grace_seconds)).to.deep.equal([
          422,
          'validation failed',
        ]);
      expect(statusAndError(await rotate('0192f0c0-0000-7000-8000-000000000009', { grace_seconds: -1 }))).to.deep.equal(
        [404, 'api key not found'],
      );
    });

    it('refuses a caller who lacks a role of the key', async () => {
      const chief = await make({
        roles: ['super_admin'],
        expires_at: new Date(process().now().getTime() + DAY_MS).toISOString(),
      });
      const manager = await signInAs(admin, await newUser(admin, owner, ['admin']));
      expect(
        statusAndError(await admin('POST', `${KEYS}/${chief.id}/rotate`, {}, bearer(manager.token))),
      ).to.deep.equal([403, 'cannot grant roles you do not possess']);
      expect((await rotate(chief.id)).status).to.equal(200);
    });
  });

  describe('the monthly limit', () => {
    it('is set and answers the key', async () => {
      const { raw_key, ...key } = await make();
      expect(raw_key).to.be.a('string');
      const reply = await setLimit(key.id, 500);
      expect([reply.status, reply.json()]).to.deep.equal([200, { ...key, monthly_limit: 500 }]);
      expect((await call('GET', KEYS)).json<Key[]>()[0]?.monthly_limit).to.equal(500);
      for (const limit of [-1, 1.5, '7', null, undefined, 2 ** 53])
        expect(statusAndError(await setLimit(key.id, limit)), String(limit)).to.deep.equal([422, 'validation failed']);
      expect(statusAndError(await setLimit('0192f0c0-0000-7000-8000-000000000009', -1))).to.deep.equal([
        404,
        'api key not found',
      ]);
    });

    it('can be lowered and cleared for free; setting it first and raising it need apikey-pro', async () => {
      const { id } = await make({ monthly_limit: 100 });
      const { id: unlimited } = await make();
      licensed = false;
      const paid = {
        error: 'payment_required',
        plugin: 'apikey',
        feature: 'feature:apikey-pro',
        upgrade_url: 'https://palimpsest.example/upgrade',
      };
      const expectPaid = (reply: Reply) => {
        expect([reply.status, reply.json()]).to.deep.equal([402, paid]);
      };
      expectPaid(await setLimit(unlimited, 10));
      expectPaid(await setLimit(id, 101));
      expect((await setLimit(id, 100)).status, 'as it is').to.equal(200);
      expect((await setLimit(id, 50)).json<Key>().monthly_limit).to.equal(50);
      expectPaid(await setLimit(id, 100));
      expect((await setLimit(id, 0)).json<Key>().monthly_limit).to.equal(0);
      expectPaid(await setLimit(id, 1));
    });

    it('allows as many requests in a UTC calendar month and then answers 429; refused requests do not count', async () => {
      const { id, raw_key } = await make({ monthly_limit: 3, schemas: ['post'] });
      const period = periodNow();
      for (let n = 0; n < 3; n += 1) {
        expect(statusAndError(await read(raw_key, '/api/v1/content/page'))).to.deep.equal([
          403,
          'schema not allowed for this credential',
        ]);
        expect(
          (await content('DELETE', '/api/v1/content/post', undefined, { 'x-api-key': raw_key })).status,
          'no scope',
        ).to.equal(403);
        expect((await read(raw_key)).status).to.equal(200);
      }
      for (let n = 0; n < 2; n += 1) {
        const over = await read(raw_key);
        expect([...statusAndError(over), over.headers['x-ratelimit-exceeded']]).to.deep.equal([
          429,
          'monthly request limit (3) exceeded',
          'true',
        ]);
      }
      expect(await usageOf(id)).to.deep.include({ billing_period: period, requests: 3 });
      const statuses = (await call('GET', `${KEYS}/${id}/audit`))
        .json<{ status: number }[]>()
        .map(({ status }) => status);
      expect(statuses).to.deep.equal([429, 429, 200, 403, 403, 200, 403, 403, 200, 403, 403]);

      await setLimit(id, 4);
      expect([(await read(raw_key)).status, (await read(raw_key)).status]).to.deep.equal([200, 429]);
      const next = new Date(process().now());
      process().advance(Date.UTC(next.getUTCFullYear(), next.getUTCMonth() + 1, 1) - next.getTime());
      expect((await read(raw_key)).status, 'a new month').to.equal(200);
      expect(await usageOf(id)).to.deep.include({ billing_period: periodNow(), requests: 1 });
      expect(periodNow()).to.not.equal(period);
    });

    it('is not exceeded by concurrent requests', async () => {
      const { id, raw_key } = await make({ monthly_limit: 20 });
      const statuses = (await Promise.all(Array.from({ length: 60 }, () => read(raw_key)))).map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).to.have.length(20);
      expect(statuses.filter((status) => status === 429)).to.have.length(40);
      expect(await usageOf(id)).to.deep.include({ requests: 20 });
    });
  });

  it('counts the usage, without refused requests', async () => {
    const { id, raw_key } = await make({ roles: ['editor'], scopes: ['content:read', 'content:write'] });
    const empty = { billing_period: periodNow(), requests: 0, bytes_in: 0, bytes_out: 0 };
    expect(await usageOf(id)).to.deep.equal(empty);
    const answered = [await read(raw_key), await read(raw_key)];
    await content('DELETE', '/api/v1/content/post', undefined, { 'x-api-key': raw_key });
    await content('GET', '/api/v1/public', undefined, { 'x-api-key': raw_key });
    const used = await usageOf(id);
    expect(used).to.deep.include({ requests: 2, bytes_in: 0 });
    expect(used['bytes_out']).to.equal(answered.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0));
    await call('DELETE', `${KEYS}/${id}`);
    expect(statusAndError(await call('GET', `/api/admin/usage/api-key/${id}`))).to.deep.equal([
      404,
      'api key not found',
    ]);
    expect(await process().requests.usage({ tenant: 'default', keyId: id, period: periodNow() })).to.deep.equal({
      requests: 0,
      bytesIn: 0,
      bytesOut: 0,
    });
  });

  it('shows 30 days of the request log without apikey-pro, and deletes nothing', async () => {
    const { id, raw_key } = await make();
    await read(raw_key);
    process().advance(31 * DAY_MS);
    await read(raw_key);
    const audit = async () => (await call('GET', `${KEYS}/${id}/audit`)).json<unknown[]>().length;
    licensed = false;
    expect(await audit()).to.equal(1);
    licensed = true;
    expect(await audit()).to.equal(2);
  });

  it('keeps more than 5 keys valid when the license ends, and refuses a new key until there are fewer than 5', async () => {
    for (const { id } of (await call('GET', `${KEYS}?limit=200`)).json<Key[]>()) await call('DELETE', `${KEYS}/${id}`);
    const keys = await Promise.all(Array.from({ length: 7 }, () => make()));
    licensed = false;
    for (const { raw_key } of keys) expect((await read(raw_key)).status).to.equal(200);
    const current = async () =>
      (await call('POST', KEYS, { name: 'x' })).json<{ cap?: string; current?: number }>().current;
    expect(await current()).to.equal(7);
    for (const { id } of keys.slice(0, 2)) await call('POST', `${KEYS}/${id}/revoke`);
    expect(await current()).to.equal(5);
    await call('POST', `${KEYS}/${keys[2]?.id ?? ''}/revoke`);
    expect((await call('POST', KEYS, { name: 'x' })).status).to.equal(201);
    expect(await current()).to.equal(5);
  });
});
