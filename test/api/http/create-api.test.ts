import { Type } from '@sinclair/typebox';
import { expect } from 'chai';
import { v7 } from 'uuid';
import { route } from '../../../api/http/route.ts';
import { type Served, useServed } from '../../support/serve-routes.ts';
import { thingRoutes } from './thing-routes.ts';

const ID = v7();
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const ADMIN = { Authorization: 'Bearer admin' };
const WRITER = { 'X-API-Key': 'svc_writer' };

type Call = { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string };

describe('a request', () => {
  const served = useServed(thingRoutes());
  const call = async (api: 'admin' | 'content', path: string, { method = 'GET', headers = {}, body }: Call = {}) => {
    const response = await fetch(served()[api].url + path, {
      method,
      headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text === '' ? undefined : JSON.parse(text),
    };
  };
  const lastKeyRequest = ({ keyRequests }: Served) => keyRequests.at(-1);

  describe('routes', () => {
    it('answers 404 with the documented message for an unknown path, before it checks credentials', async () => {
      const { status, body } = await call('admin', '/api/admin/nothing');
      expect(status).to.equal(404);
      expect(body).to.deep.equal({ error: 'The requested endpoint does not exist.', code: 'endpoint_not_found' });
    });
    it('serves no route of the other API', async () => {
      expect((await call('content', '/api/admin/things', { headers: ADMIN })).status).to.equal(404);
      expect((await call('admin', '/api/v1/things', { headers: ADMIN })).status).to.equal(404);
    });
    it('answers 405 with Allow for another method of a known path, before it checks credentials', async () => {
      const { status, headers } = await call('admin', '/api/admin/things', { method: 'DELETE' });
      expect(status).to.equal(405);
      expect(headers.get('allow')).to.equal('GET, POST, HEAD, OPTIONS');
    });
    it('answers OPTIONS with Allow', async () => {
      const { status, headers } = await call('admin', `/api/admin/things/${ID}`, { method: 'OPTIONS' });
      expect([status, headers.get('allow')]).to.deep.equal([204, 'GET, DELETE, HEAD, OPTIONS']);
    });
    it('serves HEAD as GET without the body', async () => {
      const { status, headers, text } = await call('admin', `/api/admin/things/${ID}`, {
        method: 'HEAD',
        headers: ADMIN,
      });
      expect([status, text]).to.deep.equal([200, '']);
      expect(headers.get('content-length')).to.equal(String(`{"id":"${ID}"}`.length));
      expect(headers.get('etag')).to.equal('"1"');
    });
    it('answers 404 with the code of the route for an id that is not a UUID', async () => {
      const { status, body } = await call('admin', '/api/admin/things/42', { headers: ADMIN });
      expect([status, body.error]).to.deep.equal([404, 'content not found']);
    });
    it('checks existence before it reads the body', async () => {
      const { status } = await call('admin', '/api/admin/checked/1', { method: 'PUT', body: '{not json' });
      expect(status).to.equal(404);
    });
  });

  describe('request ids', () => {
    it('creates a request id and adopts the correlation id of the caller', async () => {
      const { headers, body } = await call('admin', '/api/admin/things', {
        headers: { ...ADMIN, 'X-Correlation-ID': 'order 66', 'X-Request-Id': 'mine' },
      });
      expect(headers.get('x-request-id')).to.match(UUID);
      expect(headers.get('x-correlation-id')).to.equal('order 66');
      expect(body.correlation).to.equal('order 66');
    });
    it('creates a correlation id when the caller sends none, or not 1 to 128 printable characters', async () => {
      for (const sent of ['x'.repeat(129), 'é']) {
        const { headers } = await call('admin', '/api/admin/nothing', { headers: { 'X-Correlation-ID': sent } });
        expect(headers.get('x-correlation-id')).to.match(UUID);
      }
    });
    it('sends both ids and the security headers with refusals, and does not name the framework', async () => {
      const { headers } = await call('content', '/nothing');
      expect(headers.get('x-request-id')).to.match(UUID);
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(headers.get('content-security-policy')).to.contain("default-src 'none'");
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(headers.has('x-powered-by')).to.equal(false);
      expect(headers.has('strict-transport-security')).to.equal(false);
    });
  });

  describe('credentials', () => {
    it('answers 401 with WWW-Authenticate for a missing or wrong credential', async () => {
      for (const headers of [
        {},
        { Authorization: 'Bearer wrong' },
        { 'X-API-Key': 'svc_wrong' },
        { Authorization: 'Basic x' },
      ]) {
        const answer = await call('content', '/api/v1/things', { headers });
        expect([answer.status, answer.body.error]).to.deep.equal([401, 'authentication required']);
        expect(answer.headers.get('www-authenticate')).to.contain('Bearer');
      }
    });
    it('accepts bearer tokens on both APIs, and cookies on the Admin API only', async () => {
      const cookie = { Cookie: 'sys_session=admin' };
      expect((await call('admin', '/api/admin/things', { headers: ADMIN })).status).to.equal(200);
      expect((await call('content', '/api/v1/things', { headers: ADMIN })).status).to.equal(200);
      expect((await call('admin', '/api/admin/things', { headers: cookie })).status).to.equal(200);
      expect((await call('content', '/api/v1/things', { headers: cookie })).status).to.equal(401);
    });
    it('requires the CSRF token of a cookie session for changes, and none of a bearer session', async () => {
      const body = '{"name":"a"}';
      const cookie = { Cookie: 'sys_session=admin' };
      for (const wrong of [{}, { 'X-CSRF-Token': 'csrf-2' }]) {
        const refused = await call('admin', '/api/admin/things', {
          method: 'POST',
          body,
          headers: { ...cookie, ...wrong },
        });
        expect([refused.status, refused.body.error]).to.deep.equal([403, 'invalid CSRF token']);
      }
      expect(
        (
          await call('admin', '/api/admin/things', {
            method: 'POST',
            body,
            headers: { ...cookie, 'X-CSRF-Token': 'csrf-1' },
          })
        ).status,
      ).to.equal(201);
      expect((await call('admin', '/api/admin/things', { method: 'POST', body, headers: ADMIN })).status).to.equal(201);
    });
    it('checks the role before it reads ids and bodies', async () => {
      const refused = await call('content', `/api/v1/things/none`, {
        method: 'DELETE',
        headers: { 'X-API-Key': 'svc_reader' },
      });
      expect([refused.status, refused.body.error]).to.deep.equal([403, 'insufficient scope']);
      const editor = await call('admin', '/api/admin/keys', {
        method: 'POST',
        body: '{',
        headers: { Authorization: 'Bearer editor' },
      });
      expect([editor.status, editor.body.error]).to.deep.equal([403, 'insufficient permissions']);
    });
    it('refuses API keys on the Admin API: 401 with an admin role, else 403 with the message of the route', async () => {
      const admin = await call('admin', '/api/admin/things', { headers: { 'X-API-Key': 'svc_admin' } });
      expect([admin.status, admin.body.error]).to.deep.equal([
        401,
        'API keys with an admin role are not accepted on the admin API. Use an admin token.',
      ]);
      const plain = await call('admin', '/api/admin/things', { headers: WRITER });
      expect([plain.status, plain.body.error]).to.deep.equal([403, 'This route needs a signed-in session.']);
      const keys = await call('admin', '/api/admin/keys', { method: 'POST', body: '{}', headers: WRITER });
      expect([keys.status, keys.body.error]).to.deep.equal([
        403,
        'API keys are managed by a signed-in user, not by another key',
      ]);
    });
    it('records every request of a key without its query, also refused ones', async () => {
      await call('content', '/api/v1/things?limit=1', { headers: { 'X-API-Key': 'svc_reader' } });
      expect(lastKeyRequest(served())).to.include({
        keyId: 'k1',
        tenant: 'acme',
        method: 'GET',
        path: '/api/v1/things',
        status: 200,
        ip: '127.0.0.1',
      });
      await call('content', '/api/v1/things', { method: 'POST', body: '{"name":"a"}', headers: WRITER });
      expect(lastKeyRequest(served())).to.include({ keyId: 'k2', status: 201, bytesIn: 12 });
      expect(lastKeyRequest(served())?.bytesOut).to.be.greaterThan(10);
      await call('content', '/api/v1/things', { headers: { 'X-API-Key': 'svc_dead' } });
      expect(lastKeyRequest(served())).to.include({ keyId: 'k9', status: 401 });
    });
  });

  describe('tenants', () => {
    const tenantOf = async (headers: Record<string, string>): Promise<unknown> =>
      (await call('admin', '/api/admin/things', { headers })).body.tenant;
    it('acts in the tenant of the credential', async () => {
      expect(await tenantOf({ Authorization: 'Bearer editor' })).to.equal('acme');
    });
    it('follows X-Tenant-ID of a super admin only', async () => {
      expect(await tenantOf({ Authorization: 'Bearer super', 'X-Tenant-ID': 'acme' })).to.equal('acme');
      expect(await tenantOf({ Authorization: 'Bearer admin', 'X-Tenant-ID': 'acme' })).to.equal('default');
      const key = await call('content', '/api/v1/things', {
        headers: { 'X-API-Key': 'svc_reader', 'X-Tenant-ID': 'default' },
      });
      expect(key.body.tenant).to.equal('acme');
    });
    it('answers 404 `tenant not found` for an unknown slug', async () => {
      for (const slug of ['nobody', 'No Slug', '__proto__']) {
        const { status, body } = await call('admin', '/api/admin/things', {
          headers: { Authorization: 'Bearer super', 'X-Tenant-ID': slug },
        });
        expect([status, body.error]).to.deep.equal([404, 'tenant not found']);
      }
    });
    it('acts in `default` without a credential and without a tenant of the host', async () => {
      expect((await call('admin', '/api/admin/public')).body).to.deep.equal({ tenant: 'default' });
    });
  });

  describe('queries', () => {
    it('nests, coerces and fills in defaults', async () => {
      const { body } = await call('admin', '/api/admin/things?filters[a][$gt]=1&filters%5Bb%5D=x+y&limit=7', {
        headers: ADMIN,
      });
      expect(body.filters).to.deep.equal({ a: { $gt: '1' }, b: 'x y' });
      expect(body.limit).to.equal(7);
      expect((await call('admin', '/api/admin/things', { headers: ADMIN })).body.limit).to.equal(25);
    });
    it('names the parameter that it refuses', async () => {
      for (const value of ['0', '201', 'ten', '1.5', '', '1&limit=2']) {
        const { status, body } = await call('admin', `/api/admin/things?limit=${value}`, { headers: ADMIN });
        expect([status, body.error]).to.deep.equal([400, 'invalid query parameter: limit']);
      }
    });
  });

  describe('consistency', () => {
    const create = (size: number, headers: Record<string, string> = {}) =>
      call('admin', '/api/admin/things', {
        method: 'POST',
        body: JSON.stringify({ name: 'a', size }),
        headers: { ...ADMIN, ...headers },
      });
    it('answers a write with X-Commit-Position after the read models have applied it', async () => {
      const { status, headers } = await create(9);
      expect([status, headers.get('x-commit-position'), headers.get('x-projection-lag')]).to.deep.equal([
        201,
        '00000000000000000009',
        null,
      ]);
    });
    it('answers success with X-Projection-Lag when they have not', async () => {
      const { status, headers } = await create(99);
      expect([status, headers.get('x-commit-position'), headers.get('x-projection-lag')]).to.deep.equal([
        201,
        '00000000000000000099',
        'true',
      ]);
    });
    it('answers a read with X-Min-Position when the position is reached, else 503 with Retry-After', async () => {
      const read = (position: string) =>
        call('admin', '/api/admin/things', { headers: { ...ADMIN, 'X-Min-Position': position } });
      expect((await read('00000000000000000010')).status).to.equal(200);
      const late = await read('00000000000000000011');
      expect([late.status, late.body.code, late.headers.get('retry-after')]).to.deep.equal([503, 'not_caught_up', '1']);
      expect((await read('soon')).status).to.equal(400);
    });
    it('repeats the first answer for the same idempotency key and body, without the secret', async () => {
      const first = await create(1, { 'Idempotency-Key': 'k-1' });
      const again = await create(1, { 'Idempotency-Key': 'k-1' });
      expect(first.headers.has('idempotency-replayed')).to.equal(false);
      expect(first.body.raw_key).to.equal('svc_shown_once');
      expect([
        again.status,
        again.headers.get('idempotency-replayed'),
        again.headers.get('x-commit-position'),
      ]).to.deep.equal([201, 'true', '00000000000000000001']);
      expect(again.body).to.deep.equal({ number: first.body.number, name: 'a' });
    });
    it('refuses an idempotency key with another body, and an invalid one', async () => {
      await create(1, { 'Idempotency-Key': 'k-2' });
      const other = await create(2, { 'Idempotency-Key': 'k-2' });
      expect([other.status, other.body.error]).to.deep.equal([422, 'idempotency key was used with another body']);
      expect((await create(1, { 'Idempotency-Key': 'k'.repeat(256) })).status).to.equal(400);
    });
    it('separates idempotency keys by caller, and frees the key of a refused request', async () => {
      await create(1, { 'Idempotency-Key': 'k-3' });
      expect((await create(2, { 'Idempotency-Key': 'k-3', Authorization: 'Bearer super' })).status).to.equal(201);
      const refused = () =>
        call('admin', '/api/admin/things', {
          method: 'POST',
          body: '{"name":"refuse me"}',
          headers: { ...ADMIN, 'Idempotency-Key': 'k-4' },
        });
      expect((await refused()).status).to.equal(409);
      expect((await refused()).headers.has('idempotency-replayed')).to.equal(false);
    });
  });

  describe('errors', () => {
    it('hides the details of an unknown error and logs it with the request id', async () => {
      const { status, text, headers } = await call('admin', '/api/admin/broken');
      expect([status, JSON.parse(text)]).to.deep.equal([500, { error: 'internal error', code: 'internal' }]);
      const logged = served().logs.find(({ level }) => level === 'error');
      expect(logged?.fields['request_id']).to.equal(headers.get('x-request-id'));
    });
    it('does not send a header that would split the response', async () => {
      const { status, headers } = await call('admin', '/api/admin/bad-header');
      expect(status).to.equal(500);
      expect(headers.has('set-cookie')).to.equal(false);
    });
    it('answers a payment refusal with the documented members only', async () => {
      const { status, body } = await call('admin', '/api/admin/capped');
      expect([status, body]).to.deep.equal([
        402,
        { error: 'cap_exceeded', cap: 'apikey.keys', limit: 5, current: 5, upgrade_url: 'https://x.test' },
      ]);
    });
    it('counts requests by declared route, not by path', async () => {
      await call('admin', `/api/admin/things/${ID}`, { headers: ADMIN });
      expect(served().requests.at(-1)).to.equal('admin GET /api/admin/things/{id} 200');
      await call('admin', '/made/up');
      expect(served().requests.at(-1)).to.equal('admin GET unmatched 404');
    });
  });

  describe('cross-origin requests', () => {
    const preflight = (origin: string) =>
      call('admin', '/api/admin/things', {
        method: 'OPTIONS',
        headers: { Origin: origin, 'Access-Control-Request-Method': 'POST' },
      });
    it('answers a preflight request of an allowed origin', async () => {
      const { status, headers } = await preflight('http://localhost:5173');
      expect(status).to.equal(204);
      expect(headers.get('access-control-allow-origin')).to.equal('http://localhost:5173');
      expect(headers.get('access-control-allow-methods')).to.equal('GET, POST');
      expect(headers.get('access-control-max-age')).to.equal('3600');
    });
    it('sends no CORS headers to other origins', async () => {
      expect((await preflight('http://evil.test')).headers.has('access-control-allow-origin')).to.equal(false);
    });
    it('lets scripts read refusals, and lists the exposed headers in full', async () => {
      const { headers } = await call('admin', '/api/admin/things', { headers: { Origin: 'http://localhost:5173' } });
      expect(headers.get('access-control-allow-origin')).to.equal('http://localhost:5173');
      expect(headers.get('access-control-expose-headers')).to.contain('RateLimit-Remaining').and.not.contain('*');
      expect(headers.get('vary')).to.contain('Origin');
    });
  });
});

describe("a route's limit per client address", () => {
  const limited = route({
    api: 'admin',
    method: 'GET',
    path: '/api/admin/limited',
    operation: 'limited',
    summary: 'A route with a limit',
    tag: 'things',
    access: { kind: 'public' },
    // One call in about three hours.
    limit: { perSecond: 0.0001, burst: 1 },
    responses: { 200: Type.Object({}) },
    handler: () => Promise.resolve({ status: 200, body: {} }),
  });
  const served = useServed([limited], { trustedProxies: ['127.0.0.0/8'] });
  it('counts an IPv6 network as one client', async () => {
    const statusOf = async (address: string) =>
      (await fetch(`${served().admin.url}/api/admin/limited`, { headers: { 'X-Forwarded-For': address } })).status;
    expect(await statusOf('2001:db8:1:1::1')).to.equal(200);
    expect(await statusOf('2001:db8:1:1:ffff::2')).to.equal(429);
    expect(await statusOf('2001:db8:1:2::1')).to.equal(200);
  });
});

describe('behind trusted proxies with secure cookies', () => {
  const served = useServed(thingRoutes(), { trustedProxies: ['127.0.0.0/8', '10.0.0.1'], secure: true });
  const get = (path: string, headers: Record<string, string>) =>
    fetch(served().admin.url + path, { headers, redirect: 'manual' });
  it("takes the last untrusted address as the client's", async () => {
    const response = await get('/api/admin/things', {
      ...ADMIN,
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-For': '1.1.1.1, 203.0.113.9, 10.0.0.1',
    });
    expect(await response.json()).to.include({ clientAddress: '203.0.113.9' });
    expect(response.headers.get('strict-transport-security')).to.contain('max-age=31536000');
  });
  it('redirects HTTP to HTTPS, except probes', async () => {
    const response = await get('/api/admin/things?a=1', { Host: 'cms.test' });
    expect(response.status).to.equal(308);
    expect(response.headers.get('location')).to.match(/^https:\/\/.*\/api\/admin\/things\?a=1$/);
    expect((await get('/healthz', {})).status).to.equal(404);
  });
  it('names the cookie __Host-sys_session', async () => {
    const https = { 'X-Forwarded-Proto': 'https' };
    expect((await get('/api/admin/things', { ...https, Cookie: 'sys_session=admin' })).status).to.equal(401);
    expect((await get('/api/admin/things', { ...https, Cookie: '__Host-sys_session=admin' })).status).to.equal(200);
  });
});
