import { expect } from 'chai';
import { v7 } from 'uuid';
import type { Served } from './serving.ts';
import { useServed } from './serving.ts';
import { thingRoutes } from './thing-routes.ts';

const ID = v7();
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const ADMIN = { Authorization: 'Bearer admin' };
const WRITER = { 'X-API-Key': 'svc_writer' };

type Call = { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string };

describe('a request', () => {
  const served = useServed(thingRoutes());
  const call = async (api: 'admin' | 'content', path: string, { method = 'GET', headers = {}, body }: Call = {}) => {
    const response = await fetch(served()[api].url + path, { method, headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers }, ...(body !== undefined && { body }) });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: text === '' ? undefined : JSON.parse(text) };
  };
  const lastKeyRequest = ({ keyRequests }: Served) => keyRequests.at(-1);

  describe('routes', () => {
    it('answers an unknown path 404 with the contract message, before credentials', async () => {
      const { status, body } = await call('admin', '/api/admin/nothing');
      expect(status).to.equal(404);
      expect(body).to.deep.equal({ error: 'The requested endpoint does not exist.', code: 'endpoint_not_found' });
    });
    it('serves no route of the other API', async () => {
      expect((await call('content', '/api/admin/things', { headers: ADMIN })).status).to.equal(404);
      expect((await call('admin', '/api/v1/things', { headers: ADMIN })).status).to.equal(404);
    });
    it('answers a known path with another method 405 with Allow, before credentials', async () => {
      const { status, headers } = await call('admin', '/api/admin/things', { method: 'DELETE' });
      expect(status).to.equal(405);
      expect(headers.get('allow')).to.equal('GET, POST, HEAD, OPTIONS');
    });
    it('answers OPTIONS with Allow', async () => {
      const { status, headers } = await call('admin', `/api/admin/things/${ID}`, { method: 'OPTIONS' });
      expect([status, headers.get('allow')]).to.deep.equal([204, 'GET, DELETE, HEAD, OPTIONS']);
    });
    it('serves HEAD as GET without the body', async () => {
      const { status, headers, text } = await call('admin', `/api/admin/things/${ID}`, { method: 'HEAD', headers: ADMIN });
      expect([status, text]).to.deep.equal([200, '']);
      expect(headers.get('content-length')).to.equal(String(`{"id":"${ID}"}`.length));
      expect(headers.get('etag')).to.equal('"1"');
    });
    it('answers 404 for an id that is no UUID, with the code of the route', async () => {
      const { status, body } = await call('admin', '/api/admin/things/42', { headers: ADMIN });
      expect([status, body.error]).to.deep.equal([404, 'content not found']);
    });
    it('asks for existence before it looks at the body', async () => {
      const { status } = await call('admin', '/api/admin/checked/1', { method: 'PUT', body: '{not json' });
      expect(status).to.equal(404);
    });
  });

  describe('ids of requests', () => {
    it('makes a request id, and takes a correlation id over', async () => {
      const { headers, body } = await call('admin', '/api/admin/things', { headers: { ...ADMIN, 'X-Correlation-ID': 'order 66', 'X-Request-Id': 'mine' } });
      expect(headers.get('x-request-id')).to.match(UUID);
      expect(headers.get('x-correlation-id')).to.equal('order 66');
      expect(body.correlation).to.equal('order 66');
    });
    it('makes a correlation id of its own when none is sent or it is no 1 to 128 printable characters', async () => {
      for (const sent of ['x'.repeat(129), 'é']) {
        const { headers } = await call('admin', '/api/admin/nothing', { headers: { 'X-Correlation-ID': sent } });
        expect(headers.get('x-correlation-id')).to.match(UUID);
      }
    });
    it('answers refusals with both ids and the security headers, and does not name the framework', async () => {
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
    it('answers 401 with WWW-Authenticate without or with a wrong one', async () => {
      for (const headers of [{}, { Authorization: 'Bearer wrong' }, { 'X-API-Key': 'svc_wrong' }, { Authorization: 'Basic x' }]) {
        const answer = await call('content', '/api/v1/things', { headers });
        expect([answer.status, answer.body.error]).to.deep.equal([401, 'authentication required']);
        expect(answer.headers.get('www-authenticate')).to.contain('Bearer');
      }
    });
    it('takes bearer tokens on both APIs and cookies on the admin API only', async () => {
      const cookie = { Cookie: 'sys_session=admin' };
      expect((await call('admin', '/api/admin/things', { headers: ADMIN })).status).to.equal(200);
      expect((await call('content', '/api/v1/things', { headers: ADMIN })).status).to.equal(200);
      expect((await call('admin', '/api/admin/things', { headers: cookie })).status).to.equal(200);
      expect((await call('content', '/api/v1/things', { headers: cookie })).status).to.equal(401);
    });
    it('asks a cookie session for its CSRF token when it changes something, a bearer session never', async () => {
      const body = '{"name":"a"}';
      const cookie = { Cookie: 'sys_session=admin' };
      for (const wrong of [{}, { 'X-CSRF-Token': 'csrf-2' }]) {
        const refused = await call('admin', '/api/admin/things', { method: 'POST', body, headers: { ...cookie, ...wrong } });
        expect([refused.status, refused.body.error]).to.deep.equal([403, 'invalid CSRF token']);
      }
      expect((await call('admin', '/api/admin/things', { method: 'POST', body, headers: { ...cookie, 'X-CSRF-Token': 'csrf-1' } })).status).to.equal(201);
      expect((await call('admin', '/api/admin/things', { method: 'POST', body, headers: ADMIN })).status).to.equal(201);
    });
    it('refuses a role before it looks at ids and bodies', async () => {
      const refused = await call('content', `/api/v1/things/none`, { method: 'DELETE', headers: { 'X-API-Key': 'svc_reader' } });
      expect([refused.status, refused.body.error]).to.deep.equal([403, 'insufficient scope']);
      const editor = await call('admin', '/api/admin/keys', { method: 'POST', body: '{', headers: { Authorization: 'Bearer editor' } });
      expect([editor.status, editor.body.error]).to.deep.equal([403, 'insufficient permissions']);
    });
    it('answers the admin API to keys: 401 with an admin role, else 403, with the message of the route', async () => {
      const admin = await call('admin', '/api/admin/things', { headers: { 'X-API-Key': 'svc_admin' } });
      expect([admin.status, admin.body.error]).to.deep.equal([401, 'API keys with an admin role are not accepted on the admin API. Use an admin token.']);
      const plain = await call('admin', '/api/admin/things', { headers: WRITER });
      expect([plain.status, plain.body.error]).to.deep.equal([403, 'This route needs a signed-in session.']);
      const keys = await call('admin', '/api/admin/keys', { method: 'POST', body: '{}', headers: WRITER });
      expect([keys.status, keys.body.error]).to.deep.equal([403, 'API keys are managed by a signed-in user, not by another key']);
    });
    it('records every request of a key, refused ones included, without the query', async () => {
      await call('content', '/api/v1/things?limit=1', { headers: { 'X-API-Key': 'svc_reader' } });
      expect(lastKeyRequest(served())).to.include({ keyId: 'k1', tenant: 'acme', method: 'GET', path: '/api/v1/things', status: 200, ip: '127.0.0.1' });
      await call('content', '/api/v1/things', { method: 'POST', body: '{"name":"a"}', headers: WRITER });
      expect(lastKeyRequest(served())).to.include({ keyId: 'k2', status: 201, bytesIn: 12 });
      expect(lastKeyRequest(served())?.bytesOut).to.be.greaterThan(10);
      await call('content', '/api/v1/things', { headers: { 'X-API-Key': 'svc_dead' } });
      expect(lastKeyRequest(served())).to.include({ keyId: 'k9', status: 401 });
    });
  });

  describe('tenants', () => {
    const tenantOf = async (headers: Record<string, string>): Promise<unknown> => (await call('admin', '/api/admin/things', { headers })).body.tenant;
    it("acts in the credential's tenant", async () => {
      expect(await tenantOf({ Authorization: 'Bearer editor' })).to.equal('acme');
    });
    it('follows X-Tenant-ID of a super admin only', async () => {
      expect(await tenantOf({ Authorization: 'Bearer super', 'X-Tenant-ID': 'acme' })).to.equal('acme');
      expect(await tenantOf({ Authorization: 'Bearer admin', 'X-Tenant-ID': 'acme' })).to.equal('default');
      const key = await call('content', '/api/v1/things', { headers: { 'X-API-Key': 'svc_reader', 'X-Tenant-ID': 'default' } });
      expect(key.body.tenant).to.equal('acme');
    });
    it('answers 404 `tenant not found` for a slug that names none', async () => {
      for (const slug of ['nobody', 'No Slug', '__proto__']) {
        const { status, body } = await call('admin', '/api/admin/things', { headers: { Authorization: 'Bearer super', 'X-Tenant-ID': slug } });
        expect([status, body.error]).to.deep.equal([404, 'tenant not found']);
      }
    });
    it('acts in `default` without a credential whose host names no tenant', async () => {
      expect((await call('admin', '/api/admin/public')).body).to.deep.equal({ tenant: 'default' });
    });
  });

  describe('queries', () => {
    it('nests, coerces and fills in defaults', async () => {
      const { body } = await call('admin', '/api/admin/things?filters[a][$gt]=1&filters%5Bb%5D=x+y&limit=7', { headers: ADMIN });
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
    const create = (size: number, headers: Record<string, string> = {}) => call('admin', '/api/admin/things', { method: 'POST', body: JSON.stringify({ name: 'a', size }), headers: { ...ADMIN, ...headers } });
    it('answers a write with X-Commit-Position once the read models have it', async () => {
      const { status, headers } = await create(9);
      expect([status, headers.get('x-commit-position'), headers.get('x-projection-lag')]).to.deep.equal([201, '00000000000000000009', null]);
    });
    it('answers success with X-Projection-Lag where they have not', async () => {
      const { status, headers } = await create(99);
      expect([status, headers.get('x-commit-position'), headers.get('x-projection-lag')]).to.deep.equal([201, '00000000000000000099', 'true']);
    });
    it('answers a read with X-Min-Position when it is reached, else 503 with Retry-After', async () => {
      const read = (position: string) => call('admin', '/api/admin/things', { headers: { ...ADMIN, 'X-Min-Position': position } });
      expect((await read('00000000000000000010')).status).to.equal(200);
      const late = await read('00000000000000000011');
      expect([late.status, late.body.code, late.headers.get('retry-after')]).to.deep.equal([503, 'not_caught_up', '1']);
      expect((await read('soon')).status).to.equal(400);
    });
    it('answers the same key and body the first answer again, without the secret', async () => {
      const first = await create(1, { 'Idempotency-Key': 'k-1' });
      const again = await create(1, { 'Idempotency-Key': 'k-1' });
      expect(first.headers.has('idempotency-replayed')).to.equal(false);
      expect(first.body.raw_key).to.equal('svc_shown_once');
      expect([again.status, again.headers.get('idempotency-replayed'), again.headers.get('x-commit-position')]).to.deep.equal([201, 'true', '00000000000000000001']);
      expect(again.body).to.deep.equal({ number: first.body.number, name: 'a' });
    });
    it('refuses the same key with another body, and a key that is none', async () => {
      await create(1, { 'Idempotency-Key': 'k-2' });
      const other = await create(2, { 'Idempotency-Key': 'k-2' });
      expect([other.status, other.body.error]).to.deep.equal([422, 'idempotency key was used with another body']);
      expect((await create(1, { 'Idempotency-Key': 'k'.repeat(256) })).status).to.equal(400);
    });
    it('scopes keys by caller, and frees a key whose request was refused', async () => {
      await create(1, { 'Idempotency-Key': 'k-3' });
      expect((await create(2, { 'Idempotency-Key': 'k-3', Authorization: 'Bearer super' })).status).to.equal(201);
      const refused = () => call('admin', '/api/admin/things', { method: 'POST', body: '{"name":"refuse me"}', headers: { ...ADMIN, 'Idempotency-Key': 'k-4' } });
      expect((await refused()).status).to.equal(409);
      expect((await refused()).headers.has('idempotency-replayed')).to.equal(false);
    });
  });

  describe('errors', () => {
    it('tells nothing of an unknown error and logs it with the request id', async () => {
      const { status, text, headers } = await call('admin', '/api/admin/broken');
      expect([status, JSON.parse(text)]).to.deep.equal([500, { error: 'internal error', code: 'internal' }]);
      const logged = served().logs.find(({ level }) => level === 'error');
      expect(logged?.fields['request_id']).to.equal(headers.get('x-request-id'));
    });
    it('does not send a header that would split the answer', async () => {
      const { status, headers } = await call('admin', '/api/admin/bad-header');
      expect(status).to.equal(500);
      expect(headers.has('set-cookie')).to.equal(false);
    });
    it('answers a payment refusal with the documented members only', async () => {
      const { status, body } = await call('admin', '/api/admin/capped');
      expect([status, body]).to.deep.equal([402, { error: 'cap_exceeded', cap: 'apikey.keys', limit: 5, current: 5, upgrade_url: 'https://x.test' }]);
    });
    it('counts requests by declared route, never by path', async () => {
      await call('admin', `/api/admin/things/${ID}`, { headers: ADMIN });
      expect(served().requests.at(-1)).to.equal('admin GET /api/admin/things/{id} 200');
      await call('admin', '/made/up');
      expect(served().requests.at(-1)).to.equal('admin GET unmatched 404');
    });
  });

  describe('other origins', () => {
    const preflight = (origin: string) => call('admin', '/api/admin/things', { method: 'OPTIONS', headers: { Origin: origin, 'Access-Control-Request-Method': 'POST' } });
    it('answers a preflight of an allowed origin', async () => {
      const { status, headers } = await preflight('http://localhost:5173');
      expect(status).to.equal(204);
      expect(headers.get('access-control-allow-origin')).to.equal('http://localhost:5173');
      expect(headers.get('access-control-allow-methods')).to.equal('GET, POST');
      expect(headers.get('access-control-max-age')).to.equal('3600');
    });
    it('says nothing to others', async () => {
      expect((await preflight('http://evil.test')).headers.has('access-control-allow-origin')).to.equal(false);
    });
    it('lets scripts read refusals, and names the exposed headers in full', async () => {
      const { headers } = await call('admin', '/api/admin/things', { headers: { Origin: 'http://localhost:5173' } });
      expect(headers.get('access-control-allow-origin')).to.equal('http://localhost:5173');
      expect(headers.get('access-control-expose-headers')).to.contain('RateLimit-Remaining').and.not.contain('*');
      expect(headers.get('vary')).to.contain('Origin');
    });
  });
});

describe('behind trusted proxies with secure cookies', () => {
  const served = useServed(thingRoutes(), { trustedProxies: ['127.0.0.0/8', '10.0.0.1'], secure: true });
  const get = (path: string, headers: Record<string, string>) => fetch(served().admin.url + path, { headers, redirect: 'manual' });
  it('takes the last untrusted address for the client', async () => {
    const response = await get('/api/admin/things', { ...ADMIN, 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': '1.1.1.1, 203.0.113.9, 10.0.0.1' });
    expect(await response.json()).to.include({ clientAddress: '203.0.113.9' });
    expect(response.headers.get('strict-transport-security')).to.contain('max-age=31536000');
  });
  it('redirects plain http to https, never probes', async () => {
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
