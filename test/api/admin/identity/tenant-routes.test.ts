import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { DAY_MS } from '../../../../domain/durations.ts';
import { openInProcessSignals } from '../../../../infrastructure/signals/in-process.ts';
import { eventually } from '../../../support/eventually.ts';
import { resultOf, statusAndError } from '../../../support/http.ts';
import {
  bearer,
  newUser,
  setUpOwner,
  signInAs,
  useIdentityPair,
  useOwnedIdentity,
} from '../../../support/identity-process.ts';
import type { Session } from '../../../support/owner.ts';

type Tenant = {
  readonly slug: string;
  readonly name: string;
  readonly domains: readonly string[];
  readonly disabled: boolean;
  readonly created_at: string;
  readonly updated_at: string;
};

const slugRefusal = 'slug must start with a letter and hold at most 63 lower-case letters, digits or _';
const newSlug = () => `t_${randomUUID().replaceAll('-', '')}`;

describe('the tenant routes', () => {
  const { admin, content, database, process: running, owner } = useOwnedIdentity();
  const call = (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
    admin(method, `/api/admin/tenants${path}`, body, { ...bearer(owner.token), ...headers });
  async function make(settings: object = {}): Promise<Tenant> {
    return resultOf<Tenant>(await call('POST', '', { slug: newSlug(), ...settings }), 201);
  }
  const publicly = async (host: string) => content('GET', '/api/v1/public', undefined, { host });

  it('list the default tenant, and create, list, read and update tenants', async () => {
    const [first] = (await call('GET', '')).json<Tenant[]>();
    expect(first).to.deep.include({ slug: 'default', name: 'Default', domains: [], disabled: false });
    const reply = await call('POST', '', {
      slug: 'acme',
      name: ' Acme Corp ',
      domains: ['Acme.Test:8080', 'acme.test', 'www.acme.test'],
    });
    expect(reply.status).to.equal(201);
    const acme = reply.json<Tenant>();
    expect(acme).to.have.all.keys('slug', 'name', 'domains', 'disabled', 'created_at', 'updated_at');
    expect(acme).to.deep.include({
      slug: 'acme',
      name: 'Acme Corp',
      domains: ['acme.test', 'www.acme.test'],
      disabled: false,
    });
    expect((await call('GET', '/acme')).json()).to.deep.equal(acme);
    const list = await call('GET', '?limit=1&offset=1&count=true');
    expect([list.json(), list.headers['x-total-count']]).to.deep.equal([[acme], '2']);
    const changed = await call('PUT', '/acme', { domains: ['acme.test'] });
    expect(changed.status).to.equal(200);
    expect(changed.json()).to.deep.equal({
      ...acme,
      domains: ['acme.test'],
      updated_at: changed.json<Tenant>().updated_at,
    });
    expect((await call('GET', '/acme')).json()).to.deep.equal(changed.json());
    expect((await call('PUT', '/acme', {})).json(), 'nothing changed').to.deep.equal(changed.json());
    expect((await make()).name).to.match(/^t_/);
  });

  it('refuse invalid slugs, and slugs that were ever used', async () => {
    for (const slug of ['', 'Acme', '1acme', '_acme', 'a-b', 'a'.repeat(64), 'ä', 'a b', 7, null, ['acme']]) {
      expect(statusAndError(await call('POST', '', { slug })), JSON.stringify(slug)).to.deep.equal([422, slugRefusal]);
    }
    expect(statusAndError(await call('POST', '', {}))).to.deep.equal([422, slugRefusal]);
    expect((await make({ slug: 'a'.repeat(63) })).slug).to.have.length(63);
    const { slug } = await make();
    expect(statusAndError(await call('POST', '', { slug }))).to.deep.equal([
      409,
      'a tenant with that slug already exists',
    ]);
    expect(statusAndError(await call('POST', '', { slug: 'default' }))).to.deep.equal([
      409,
      'a tenant with that slug already exists',
    ]);
    const contested = newSlug();
    const rivals = await Promise.all(Array.from({ length: 8 }, () => call('POST', '', { slug: contested })));
    expect(rivals.map(({ status }) => status).toSorted()).to.deep.equal([201, ...Array.from({ length: 7 }, () => 409)]);
    expect((await call('DELETE', `/${slug}?confirm=${slug}`)).status).to.equal(204);
    expect(statusAndError(await call('POST', '', { slug }))).to.deep.equal([
      409,
      'a tenant with that slug already exists',
    ]);
  });

  it('refuse a domain of another tenant, ignoring case and port', async () => {
    const [one, two] = [await make({ domains: ['one.test'] }), await make()];
    for (const domain of ['one.test', 'ONE.test:443', 'one.test.']) {
      expect(statusAndError(await call('POST', '', { slug: newSlug(), domains: [domain] }))).to.deep.equal([
        409,
        'another tenant has that domain',
      ]);
      expect(statusAndError(await call('PUT', `/${two.slug}`, { domains: [domain] }))).to.deep.equal([
        409,
        'another tenant has that domain',
      ]);
    }
    for (const domain of ['http://one.test', 'no spaces', '', '*.test'])
      expect(statusAndError(await call('PUT', `/${two.slug}`, { domains: [domain] }))).to.deep.equal([
        422,
        'validation failed',
      ]);
    expect((await call('PUT', `/${one.slug}`, { domains: ['other.test'] })).status).to.equal(200);
    expect((await call('PUT', `/${two.slug}`, { domains: ['one.test'] })).status, 'given up').to.equal(200);
    const rivals = await Promise.all(
      Array.from({ length: 6 }, () => call('POST', '', { slug: newSlug(), domains: ['race.test'] })),
    );
    expect(rivals.map(({ status }) => status).toSorted()).to.deep.equal([201, ...Array.from({ length: 5 }, () => 409)]);
    const { slug } = await make({ domains: ['gone.test'] });
    expect((await call('DELETE', `/${slug}?confirm=${slug}`)).status).to.equal(204);
    expect((await make({ domains: ['gone.test'] })).domains).to.deep.equal(['gone.test']);
    const unsettled = await database
      .db()
      .query(`select 1 from operational.claims where scope = 'tenant/domain' and unsettled_since is not null`);
    expect(unsettled).to.deep.equal([]);
  });

  it('select the tenant by the host for requests without a credential', async () => {
    const { slug } = await make({ domains: ['host.test'] });
    for (const host of ['host.test', 'HOST.test:8443', 'host.test.'])
      expect((await publicly(host)).json(), host).to.deep.equal({ tenant: slug });
    for (const host of ['unknown.test', '127.0.0.1', 'x.host.test'])
      expect((await publicly(host)).json(), host).to.deep.equal({ tenant: 'default' });
    const key = (await admin('POST', '/api/admin/api-keys', { name: 'k', scopes: ['*:*'] }, bearer(owner.token))).json<{
      raw_key: string;
    }>();
    expect(
      (await content('GET', '/api/v1/content/post', undefined, { host: 'host.test', 'x-api-key': key.raw_key })).json(),
      'the credential wins',
    ).to.deep.equal({ kind: 'api_key', tenant: 'default' });
    expect((await call('PUT', `/${slug}`, { domains: [] })).status).to.equal(200);
    expect((await publicly('host.test')).json()).to.deep.equal({ tenant: 'default' });
  });

  it('select the tenant by X-Tenant-ID in sessions of super admins only', async () => {
    const { slug } = await make();
    const whereOf = async (headers: Readonly<Record<string, string>>) =>
      (await content('GET', '/api/v1/content/post', undefined, { ...headers, 'x-tenant-id': slug })).json<{
        tenant: string;
      }>().tenant;
    expect(await whereOf(bearer(owner.token))).to.equal(slug);
    const editor = await signInAs(admin, await newUser(admin, owner, ['admin', 'editor']));
    expect(await whereOf(bearer(editor.token))).to.equal('default');
    const key = (
      await admin(
        'POST',
        '/api/admin/api-keys',
        {
          name: 'chief',
          scopes: ['*:*'],
          roles: ['super_admin'],
          expires_at: new Date(Date.now() + DAY_MS).toISOString(),
        },
        bearer(owner.token),
      )
    ).json<{ raw_key: string }>();
    expect(await whereOf({ 'x-api-key': key.raw_key })).to.equal('default');
    for (const unknown of ['nobody', 'Not A Slug', '']) {
      const reply = await content('GET', '/api/v1/content/post', undefined, {
        ...bearer(owner.token),
        'x-tenant-id': unknown,
      });
      expect(statusAndError(reply), unknown).to.deep.equal([404, 'tenant not found']);
    }
  });

  it('answer 403 in a disabled tenant to everyone except super admins, and refuse their sign-in', async () => {
    const { slug } = await make({ domains: ['closed.test'] });
    const elsewhere = { ...bearer(owner.token), 'x-tenant-id': slug };
    const [email, password] = [`${randomUUID()}@palimpsest.test`, 'Another-Good-Pass-1'];
    expect(
      (
        await admin(
          'POST',
          '/api/admin/users',
          { email, password, roles: ['admin'], tenant_id: slug },
          bearer(owner.token),
        )
      ).status,
    ).to.equal(201);
    const session = await signInAs(admin, { email, password });
    const key = (
      await admin('POST', '/api/admin/api-keys', { name: 'k', scopes: ['*:*'], roles: ['editor'] }, elsewhere)
    ).json<{ raw_key: string }>();
    const asked = async () => [
      statusAndError(await admin('GET', '/api/admin/auth/me', undefined, bearer(session.token))),
      statusAndError(await admin('GET', '/api/admin/users', undefined, bearer(session.token))),
      statusAndError(await content('GET', '/api/v1/content/post', undefined, { 'x-api-key': key.raw_key })),
      statusAndError(await publicly('closed.test')),
      statusAndError(await admin('POST', '/api/admin/auth/login', { email, password })),
      statusAndError(await content('POST', '/api/v1/auth/token', { email, password, tenant: slug })),
    ];
    expect((await call('PUT', `/${slug}`, { disabled: true })).json()).to.include({ disabled: true });
    for (const refusal of await asked()) expect(refusal).to.deep.equal([403, 'tenant is disabled']);
    expect(
      statusAndError(await admin('POST', '/api/admin/auth/refresh', { refresh_token: session.refresh_token })),
    ).to.deep.equal([403, 'tenant is disabled']);
    expect(
      statusAndError(await admin('POST', '/api/admin/auth/login', { email, password: 'Wrong-Password-1' })),
    ).to.deep.equal([401, 'invalid credentials']);
    expect(
      statusAndError(await admin('GET', '/api/admin/auth/me', undefined, { authorization: 'Bearer x' })),
    ).to.deep.equal([401, 'authentication required']);
    expect((await admin('GET', '/api/admin/api-keys', undefined, elsewhere)).status, 'a super admin').to.equal(200);
    expect((await call('PUT', `/${slug}`, { disabled: false })).status).to.equal(200);
    const refreshed = await admin('POST', '/api/admin/auth/refresh', { refresh_token: session.refresh_token });
    expect(refreshed.status, 'the refresh token lived through it').to.equal(200);
    expect((await admin('GET', '/api/admin/auth/me', undefined, bearer(session.token))).status).to.equal(200);
    expect((await content('GET', '/api/v1/content/post', undefined, { 'x-api-key': key.raw_key })).status).to.equal(
      200,
    );
  });

  it('allow super admins to sign in to a disabled tenant', async () => {
    const [email, password] = [`${randomUUID()}@palimpsest.test`, 'Another-Good-Pass-1'];
    const { slug } = await make({ disabled: true });
    expect(
      (
        await admin(
          'POST',
          '/api/admin/users',
          { email, password, roles: ['super_admin'], tenant_id: slug },
          bearer(owner.token),
        )
      ).status,
    ).to.equal(201);
    const reply = await admin('POST', '/api/admin/auth/login', { email, password, tenant: slug });
    expect(reply.status, reply.text).to.equal(200);
    expect((await admin('GET', '/api/admin/tenants', undefined, bearer(reply.json<Session>().token))).status).to.equal(
      200,
    );
  });

  it('delete a tenant when the slug is repeated, end its credentials, and keep its events', async () => {
    const { slug } = await make({ domains: ['deleted.test'] });
    const elsewhere = { ...bearer(owner.token), 'x-tenant-id': slug };
    const [email, password] = [`${randomUUID()}@palimpsest.test`, 'Another-Good-Pass-1'];
    await admin(
      'POST',
      '/api/admin/users',
      { email, password, roles: ['editor'], tenant_id: slug },
      bearer(owner.token),
    );
    const session = await signInAs(admin, { email, password });
    const key = (
      await admin('POST', '/api/admin/api-keys', { name: 'k', scopes: ['*:*'], roles: ['editor'] }, elsewhere)
    ).json<{ raw_key: string }>();
    expect(statusAndError(await call('DELETE', '/default'))).to.deep.equal([
      409,
      'the default tenant cannot be deleted',
    ]);
    expect(statusAndError(await call('DELETE', '/default?confirm=default'))).to.deep.equal([
      409,
      'the default tenant cannot be deleted',
    ]);
    expect(statusAndError(await call('DELETE', '/nobody?confirm=nobody'))).to.deep.equal([404, 'tenant not found']);
    for (const query of ['', '?confirm=', '?confirm=default', `?confirm=${slug.toUpperCase()}`]) {
      const reply = await call('DELETE', `/${slug}${query}`);
      expect(statusAndError(reply)).to.deep.equal([422, 'validation failed']);
      expect(reply.json<{ fields: { field: string }[] }>().fields[0]!.field).to.equal('confirm');
    }
    expect((await call('DELETE', `/${slug}?confirm=${slug}`)).status).to.equal(204);
    expect(statusAndError(await call('GET', `/${slug}`))).to.deep.equal([404, 'tenant not found']);
    expect(statusAndError(await call('PUT', `/${slug}`, {}))).to.deep.equal([404, 'tenant not found']);
    expect(statusAndError(await call('DELETE', `/${slug}?confirm=${slug}`))).to.deep.equal([404, 'tenant not found']);
    expect(statusAndError(await admin('GET', '/api/admin/api-keys', undefined, elsewhere))).to.deep.equal([
      404,
      'tenant not found',
    ]);
    expect(statusAndError(await admin('GET', '/api/admin/auth/me', undefined, bearer(session.token)))).to.deep.equal([
      401,
      'authentication required',
    ]);
    expect(
      statusAndError(await admin('POST', '/api/admin/auth/refresh', { refresh_token: session.refresh_token })),
    ).to.deep.equal([401, 'invalid refresh token']);
    expect(statusAndError(await admin('POST', '/api/admin/auth/login', { email, password }))).to.deep.equal([
      401,
      'invalid credentials',
    ]);
    expect(
      statusAndError(await content('GET', '/api/v1/content/post', undefined, { 'x-api-key': key.raw_key })),
    ).to.deep.equal([401, 'authentication required']);
    expect((await publicly('deleted.test')).json()).to.deep.equal({ tenant: 'default' });
    const types: string[] = [];
    for await (const { type, data } of running().eventStore.readAll({ filter: { categories: ['tenant'] } }))
      if (data['slug'] === slug) types.push(type);
    expect(types).to.deep.equal(['TenantCreated', 'TenantDeleted']);
  });

  it('are for super admins in a session', async () => {
    const manager = await signInAs(admin, await newUser(admin, owner, ['admin', 'editor']));
    for (const [method, path] of [
      ['GET', ''],
      ['POST', ''],
      ['GET', '/default'],
      ['PUT', '/default'],
      ['DELETE', '/default'],
    ] as const) {
      expect(
        statusAndError(
          await admin(method, `/api/admin/tenants${path}`, method === 'GET' ? undefined : {}, bearer(manager.token)),
        ),
      ).to.deep.equal([403, 'insufficient permissions']);
    }
    for (const [method, body] of [
      ['PUT', { name: 7 }],
      ['PUT', { slug: 'x' }],
      ['PUT', { name: ' ' }],
      ['PUT', { domains: 'a.test' }],
    ] as const) {
      expect(statusAndError(await call(method, '/default', body))).to.deep.equal([422, 'validation failed']);
    }
    expect(statusAndError(await call('PUT', '/nobody', { name: 7 })), 'before the body').to.deep.equal([
      404,
      'tenant not found',
    ]);
  });
});

describe('tenants on two processes', () => {
  const { processes } = useIdentityPair({ signals: openInProcessSignals() });
  let owner: Session;
  before(async () => {
    owner = await setUpOwner(processes()[0].admin);
  });

  it('are known, disabled and deleted on the other process', async () => {
    const [here, there] = processes();
    const call = (method: string, path: string, body?: unknown) =>
      here.admin(method, `/api/admin/tenants${path}`, body, bearer(owner.token));
    const statusThere = async () =>
      (await there.content('GET', '/api/v1/public', undefined, { host: 'far.test' })).text;
    const within = (wanted: string) =>
      eventually(async () => {
        expect(await statusThere()).to.contain(wanted);
      });
    expect((await call('POST', '', { slug: 'far', domains: ['far.test'] })).status).to.equal(201);
    await within('far');
    await call('PUT', '/far', { disabled: true });
    await within('tenant is disabled');
    await call('DELETE', '/far?confirm=far');
    await within('default');
  });
});
