import { expect } from 'chai';
import { v7 } from 'uuid';
import { FREE_TIER } from '../../../../application/ports/entitlements.ts';
import { DAY_MS } from '../../../../domain/durations.ts';
import { statusAndError } from '../../../support/http.ts';
import {
  bearer,
  newUser,
  setUpOwner,
  signInAs,
  useIdentity,
  useOwnedIdentity,
} from '../../../support/identity-process.ts';

type Key = { readonly id: string; readonly raw_key: string; readonly prefix: string; readonly enabled: boolean };

const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();

describe('the API key routes', () => {
  const { admin, content, process, owner } = useOwnedIdentity({
    entitlements: { ...FREE_TIER, has: (capability) => capability === 'apikey-pro' },
  });
  const call = (method: string, path: string, body?: unknown, token = owner.token) =>
    admin(method, path, body, bearer(token));
  const make = async (body: Readonly<Record<string, unknown>>): Promise<Key> => {
    const reply = await call('POST', '/api/admin/api-keys', { name: 'site', ...body });
    if (reply.status !== 201) throw new Error(reply.text);
    return reply.json<Key>();
  };
  const read = (key: string, headers: Readonly<Record<string, string>> = {}) =>
    content('GET', '/api/v1/content/post', undefined, { 'x-api-key': key, ...headers });

  it('create a key and show its secret once', async () => {
    const reply = await call('POST', '/api/admin/api-keys', {
      name: ' site ',
      scopes: ['content:read'],
      roles: ['editor'],
      schemas: ['post'],
      expires_at: inDays(400),
    });
    expect(reply.status).to.equal(201);
    const { raw_key, ...key } = reply.json<Key>();
    expect(raw_key).to.match(/^svc_[0-9A-Za-z]{40}$/);
    expect(key.prefix).to.equal(raw_key.slice(4, 12));
    expect(key).to.have.all.keys(
      'id',
      'name',
      'prefix',
      'scopes',
      'roles',
      'schemas',
      'tenant_id',
      'enabled',
      'expires_at',
      'monthly_limit',
      'created_at',
    );
    expect(key).to.deep.include({
      name: 'site',
      scopes: ['content:read'],
      roles: ['editor'],
      schemas: ['post'],
      tenant_id: 'default',
      enabled: true,
      monthly_limit: 0,
    });
    const listed = await call('GET', '/api/admin/api-keys?count=true');
    expect(listed.json<unknown[]>()[0]).to.deep.equal(key);
    expect(listed.text).to.not.contain(raw_key.slice(12));
    expect(listed.headers['x-total-count']).to.equal('1');
  });

  it('accept a new key on the Content API at once, in its tenant only', async () => {
    const { raw_key } = await make({ scopes: ['content:read'] });
    expect((await read(raw_key)).json()).to.deep.equal({ kind: 'api_key', tenant: 'default' });
    expect((await read(raw_key, { 'x-tenant-id': 'acme' })).json()).to.deep.equal({
      kind: 'api_key',
      tenant: 'default',
    });
  });

  it('check the scope, then the content type, then the role of a key', async () => {
    const write = (key: string, schema = 'post') =>
      content('POST', `/api/v1/content/${schema}`, undefined, { 'x-api-key': key });
    const [none, reader, writer, editor, listed, chief] = await Promise.all([
      make({ roles: ['editor'] }),
      make({ scopes: ['content:read'], roles: ['editor'] }),
      make({ scopes: ['content:*'] }),
      make({ scopes: ['CONTENT:write'], roles: ['editor'] }),
      make({ scopes: ['*:*'], roles: ['editor'], schemas: ['page'] }),
      make({ roles: ['admin'], expires_at: inDays(30) }),
    ]);
    expect(statusAndError(await read(none.raw_key))).to.deep.equal([403, 'insufficient scope']);
    expect(statusAndError(await write(reader.raw_key))).to.deep.equal([403, 'insufficient scope']);
    expect(statusAndError(await write(writer.raw_key))).to.deep.equal([403, 'insufficient permissions']);
    expect((await write(editor.raw_key)).status).to.equal(200);
    expect(statusAndError(await write(listed.raw_key))).to.deep.equal([403, 'schema not allowed for this credential']);
    expect((await write(listed.raw_key, 'page')).status).to.equal(200);
    expect((await write(chief.raw_key)).status).to.equal(200);
  });

  it('answer 401 for an unknown, malformed, revoked, deleted or expired key, also when it was cached', async () => {
    const [revoked, deleted, expiring] = await Promise.all([
      make({ scopes: ['*:*'] }),
      make({ scopes: ['*:*'] }),
      make({ scopes: ['*:*'], expires_at: inDays(1) }),
    ]);
    for (const { raw_key } of [revoked, deleted, expiring]) expect((await read(raw_key)).status).to.equal(200);
    expect((await call('POST', `/api/admin/api-keys/${revoked.id}/revoke`)).status).to.equal(204);
    expect((await call('POST', `/api/admin/api-keys/${revoked.id}/revoke`)).status).to.equal(204);
    expect((await call('DELETE', `/api/admin/api-keys/${deleted.id}`)).status).to.equal(204);
    process().advance(86_400_001);
    for (const key of [
      revoked.raw_key,
      deleted.raw_key,
      expiring.raw_key,
      `svc_${'A'.repeat(40)}`,
      'svc_',
      '',
      'x'.repeat(10_000),
      revoked.id,
    ]) {
      expect(statusAndError(await read(key)), key.slice(0, 60)).to.deep.equal([401, 'authentication required']);
    }
    process().advance(-86_400_001);
    const listed = (await call('GET', '/api/admin/api-keys?limit=200')).json<Key[]>();
    expect(listed.find(({ id }) => id === revoked.id)?.enabled).to.equal(false);
    expect(listed.some(({ id }) => id === deleted.id)).to.equal(false);
    expect(statusAndError(await call('DELETE', `/api/admin/api-keys/${deleted.id}`))).to.deep.equal([
      404,
      'api key not found',
    ]);
  });

  it('refuse a key without a name, or with roles that its creator lacks', async () => {
    for (const body of [
      '',
      'no json',
      '[]',
      '"x"',
      'null',
      '{}',
      '{"name":""}',
      '{"name":"  "}',
      '{"name":7}',
      '{"scopes":["content:read"]}',
    ]) {
      const reply = await admin('POST', '/api/admin/api-keys', body, {
        ...bearer(owner.token),
        'content-type': 'application/json',
      });
      expect(statusAndError(reply), body).to.deep.equal([400, 'invalid JSON, name is required']);
    }
    const manager = await signInAs(admin, await newUser(admin, owner, ['admin']));
    expect(
      statusAndError(await call('POST', '/api/admin/api-keys', { name: 'x', roles: ['editor'] }, manager.token)),
    ).to.deep.equal([403, 'cannot grant roles you do not possess']);
    expect(
      (
        await call(
          'POST',
          '/api/admin/api-keys',
          { name: 'x', roles: ['admin'], expires_at: inDays(89) },
          manager.token,
        )
      ).status,
    ).to.equal(201);
    expect(statusAndError(await call('POST', '/api/admin/api-keys', { name: 'x', roles: ['admin'] }))).to.deep.equal([
      422,
      'a key with the admin or super_admin role needs an expiry, at most 90 days away',
    ]);
    expect(
      statusAndError(
        await call('POST', '/api/admin/api-keys', { name: 'x', roles: ['admin'], expires_at: inDays(91) }),
      ),
    ).to.deep.equal([422, 'a key with the admin or super_admin role expires at most 90 days away']);
    for (const body of [
      { scopes: ['content'] },
      { scopes: 'content:read' },
      { roles: ['a b'] },
      { monthly_limit: -1 },
      { monthly_limit: 1.5 },
      { expires_at: 'tomorrow' },
      { raw_key: 'mine' },
    ]) {
      expect((await call('POST', '/api/admin/api-keys', { name: 'x', ...body })).status, JSON.stringify(body)).to.equal(
        422,
      );
    }
  });

  it('allow a signed-in admin to manage keys, but not another key', async () => {
    const editor = await signInAs(admin, await newUser(admin, owner, ['editor']));
    const [plain, chief] = [
      await make({ roles: ['editor'], scopes: ['*:*'] }),
      await make({ roles: ['admin'], scopes: ['*:*'], expires_at: inDays(1) }),
    ];
    const routes = [
      ['GET', '/api/admin/api-keys'],
      ['POST', '/api/admin/api-keys'],
      ['POST', `/api/admin/api-keys/${plain.id}/revoke`],
      ['DELETE', `/api/admin/api-keys/${plain.id}`],
      ['GET', `/api/admin/api-keys/${plain.id}/audit`],
    ] as const;
    for (const [method, path] of routes) {
      const body = method === 'POST' && path.endsWith('keys') ? { name: 'x' } : undefined;
      expect(statusAndError(await admin(method, path, body, { 'x-api-key': plain.raw_key }))).to.deep.equal([
        403,
        'API keys are managed by a signed-in user, not by another key',
      ]);
      expect(statusAndError(await admin(method, path, body, { 'x-api-key': chief.raw_key }))).to.deep.equal([
        401,
        'API keys with an admin role are not accepted on the admin API. Use an admin token.',
      ]);
      expect(statusAndError(await admin(method, path, body, bearer(editor.token)))).to.deep.equal([
        403,
        'insufficient permissions',
      ]);
      expect(statusAndError(await admin(method, path, body))).to.deep.equal([401, 'authentication required']);
    }
    expect(
      statusAndError(await admin('GET', '/api/admin/auth/me', undefined, { 'x-api-key': plain.raw_key })),
    ).to.deep.equal([403, 'This route needs a signed-in session.']);
  });

  it('answer 404 for keys of another tenant', async () => {
    const { id } = await make({});
    const elsewhere = { ...bearer(owner.token), 'x-tenant-id': 'acme' };
    expect((await call('POST', '/api/admin/tenants', { slug: 'acme' })).status).to.equal(201);
    expect((await admin('GET', '/api/admin/api-keys', undefined, elsewhere)).json()).to.deep.equal([]);
    for (const [method, path] of [
      ['POST', `/${id}/revoke`],
      ['DELETE', `/${id}`],
      ['GET', `/${id}/audit`],
    ] as const) {
      expect(statusAndError(await admin(method, `/api/admin/api-keys${path}`, undefined, elsewhere))).to.deep.equal([
        404,
        'api key not found',
      ]);
    }
    const foreign = (await admin('POST', '/api/admin/api-keys', { name: 'x', scopes: ['*:*'] }, elsewhere)).json<Key>();
    expect((await read(foreign.raw_key)).json()).to.deep.equal({ kind: 'api_key', tenant: 'acme' });
    expect(statusAndError(await call('DELETE', `/api/admin/api-keys/${foreign.id}`))).to.deep.equal([
      404,
      'api key not found',
    ]);
  });

  it('record every request of a key, also refused ones, until the key is deleted', async () => {
    const key = await make({ scopes: ['content:read'] });
    await read(key.raw_key);
    await content('POST', '/api/v1/content/post?secret=1', undefined, { 'x-api-key': key.raw_key });
    await call('POST', `/api/admin/api-keys/${key.id}/revoke`);
    await read(key.raw_key);
    const audit = () => call('GET', `/api/admin/api-keys/${key.id}/audit`);
    const entries = (await audit()).json<Record<string, unknown>[]>();
    expect(entries.map(({ method, path, status }) => [method, path, status])).to.deep.equal([
      ['GET', '/api/v1/content/post', 401],
      ['POST', '/api/v1/content/post', 403],
      ['GET', '/api/v1/content/post', 200],
    ]);
    expect(entries[0]).to.have.all.keys('id', 'api_key_id', 'method', 'path', 'status', 'ip', 'ts');
    expect(entries[0]).to.include({ api_key_id: key.id, ip: '127.0.0.1' });
    expect((await call('GET', `/api/admin/api-keys/${key.id}/audit?limit=1&offset=1`)).json<unknown[]>()).to.deep.equal(
      [entries[1]],
    );
    await call('DELETE', `/api/admin/api-keys/${key.id}`);
    expect(statusAndError(await audit())).to.deep.equal([404, 'api key not found']);
    expect(statusAndError(await call('GET', `/api/admin/api-keys/${v7()}/audit`))).to.deep.equal([
      404,
      'api key not found',
    ]);
    expect(await process().requests.list({ tenant: 'default', keyId: key.id, limit: 50, offset: 0 })).to.be.empty;
  });

  it('authenticate a cached key without a promise and without a query', async () => {
    const { raw_key } = await make({ scopes: ['*:*'] });
    const { authenticate } = process().authenticator;
    const credentials = { api: 'content', bearer: undefined, apiKey: raw_key, sessionCookie: undefined } as const;
    await authenticate(credentials);
    // A query would need a promise.
    expect(authenticate(credentials)).to.not.be.instanceOf(Promise);
  });
});

describe('the API key routes without apikey-pro', () => {
  const { admin, process } = useIdentity();

  it('allow 5 active keys, also under concurrent requests; ended keys do not count', async () => {
    const owner = await setUpOwner(admin);
    const make = (body: Readonly<Record<string, unknown>> = {}) =>
      admin('POST', '/api/admin/api-keys', { name: 'x', ...body }, bearer(owner.token));
    expect((await make({ expires_at: inDays(1) })).status).to.equal(201);
    const replies = await Promise.all(Array.from({ length: 9 }, () => make()));
    expect(replies.filter(({ status }) => status === 201)).to.have.length(4);
    const [over] = replies.filter(({ status }) => status === 402);
    expect(over!.json()).to.include({
      error: 'cap_exceeded',
      cap: 'apikey.keys',
      limit: 5,
      current: 5,
      upgrade_url: 'https://palimpsest.example/upgrade',
    });
    const [{ id }] = (await admin('GET', '/api/admin/api-keys', undefined, bearer(owner.token))).json<[Key]>();
    await admin('POST', `/api/admin/api-keys/${id}/revoke`, undefined, bearer(owner.token));
    expect((await make()).status).to.equal(201);
    expect((await make()).status).to.equal(402);
    const refused402 = await make({ monthly_limit: 10 });
    expect(refused402.status).to.equal(402);
    expect(refused402.json()).to.include({
      error: 'payment_required',
      plugin: 'apikey',
      feature: 'feature:apikey-pro',
      upgrade_url: 'https://palimpsest.example/upgrade',
    });
    expect(
      await process().dependencies.reads.countActiveApiKeys('default', new Date(Date.now() + 2 * DAY_MS)),
    ).to.equal(4);
  });
});
