import { expect } from 'chai';
import { v7 } from 'uuid';
import { openInProcessSignals } from '../../../../infrastructure/signals/in-process.ts';
import { eventually } from '../../../support/eventually.ts';
import { statusAndError } from '../../../support/http.ts';
import {
  bearer,
  newUser,
  setUpOwner,
  signInAs,
  useIdentityPair,
  useOwnedIdentity,
} from '../../../support/identity-process.ts';
import type { Session } from '../../../support/owner.ts';

type Membership = { readonly tenant_id: string; readonly name: string; readonly roles: readonly string[] };
const PASSWORD = 'Another-Good-Pass-1';

describe('the membership routes', () => {
  const { admin, content, owner } = useOwnedIdentity();
  before(async () => {
    for (const slug of ['acme', 'brand']) await call('POST', '/api/admin/tenants', { slug, name: slug.toUpperCase() });
  });
  const call = (method: string, path: string, body?: unknown, token = owner.token) =>
    admin(method, path, body, bearer(token));
  const ofUser = (id: string) => `/api/admin/users/${id}/memberships`;
  const listed = async (id: string) => (await call('GET', ofUser(id))).json<Membership[]>();
  const signIn = async ({ email, password }: { email: string; password: string }, tenant?: string) =>
    admin('POST', '/api/admin/auth/login', { email, password, ...(tenant === undefined ? {} : { tenant }) });
  const own = (token: string) => call('GET', '/api/admin/auth/memberships', undefined, token);

  it('grant, list, replace and remove memberships', async () => {
    const user = await newUser(admin, owner, ['editor']);
    expect(await listed(user.id)).to.deep.equal([{ tenant_id: 'default', name: 'Default', roles: ['editor'] }]);
    const granted = await call('PUT', ofUser(user.id), { tenant_id: 'acme', roles: ['reader', 'reader'] });
    expect([granted.status, granted.json()]).to.deep.equal([200, { tenant_id: 'acme', roles: ['reader'] }]);
    expect((await call('PUT', ofUser(user.id), { tenant_id: 'acme', roles: ['author'] })).json()).to.deep.equal({
      tenant_id: 'acme',
      roles: ['author'],
    });
    const both = [
      { tenant_id: 'default', name: 'Default', roles: ['editor'] },
      { tenant_id: 'acme', name: 'ACME', roles: ['author'] },
    ];
    expect(await listed(user.id)).to.deep.equal(both);
    const { token } = await signInAs(admin, user);
    expect((await own(token)).json()).to.deep.equal(both);
    expect((await call('DELETE', `${ofUser(user.id)}/acme`)).status).to.equal(204);
    expect(statusAndError(await call('DELETE', `${ofUser(user.id)}/acme`))).to.deep.equal([
      404,
      'membership not found',
    ]);
    expect(await listed(user.id)).to.deep.equal(both.slice(0, 1));
  });

  it('give a membership in the default tenant the roles of the user', async () => {
    const user = await newUser(admin, owner, ['editor']);
    const roles = async () =>
      (await call('GET', '/api/admin/users?limit=200'))
        .json<{ id: string; roles: string[] }[]>()
        .find(({ id }) => id === user.id)?.roles;
    expect((await call('PUT', ofUser(user.id), { tenant_id: 'default', roles: ['reader'] })).json()).to.deep.equal({
      tenant_id: 'default',
      roles: ['reader'],
    });
    expect(await roles()).to.deep.equal(['reader']);
    expect((await call('PUT', `/api/admin/users/${user.id}/roles`, { roles: ['author'] })).status).to.equal(200);
    expect(await listed(user.id)).to.deep.equal([{ tenant_id: 'default', name: 'Default', roles: ['author'] }]);
    expect((await call('DELETE', `${ofUser(user.id)}/default`)).status).to.equal(204);
    expect([await roles(), await listed(user.id)]).to.deep.equal([[], []]);
    expect(statusAndError(await signIn(user)), 'a member of nothing').to.deep.equal([401, 'invalid credentials']);
  });

  it('refuse super_admin as a role of a membership', async () => {
    const user = await newUser(admin, owner, ['super_admin']);
    const refusal = await call('PUT', ofUser(user.id), { tenant_id: 'acme', roles: ['super_admin'] });
    expect([
      ...statusAndError(refusal),
      refusal.json<{ fields: { field: string }[] }>().fields[0]!.field,
    ]).to.deep.equal([422, 'validation failed', 'roles']);
    expect((await call('PUT', ofUser(user.id), { tenant_id: 'default', roles: ['editor'] })).json()).to.deep.equal({
      tenant_id: 'default',
      roles: ['super_admin', 'editor'],
    });
    expect((await call('PUT', ofUser(user.id), { tenant_id: 'acme', roles: ['editor'] })).status).to.equal(200);
    const session = (await signIn(user, 'acme')).json<Session>();
    expect(session.user.roles).to.deep.equal(['super_admin', 'editor']);
  });

  it('make a new user a member of the named tenant, with the roles there', async () => {
    const email = `${v7()}@palimpsest.test`;
    const made = await call('POST', '/api/admin/users', {
      email,
      password: PASSWORD,
      roles: ['editor'],
      tenant_id: 'acme',
    });
    expect(made.status).to.equal(201);
    const { id, roles } = made.json<{ id: string; roles: string[] }>();
    expect([roles, await listed(id)]).to.deep.equal([[], [{ tenant_id: 'acme', name: 'ACME', roles: ['editor'] }]]);
    expect(
      statusAndError(
        await call('POST', '/api/admin/users', { email: `x${email}`, password: PASSWORD, tenant_id: 'nobody' }),
      ),
    ).to.deep.equal([404, 'tenant not found']);
    const session = (await signIn({ email, password: PASSWORD })).json<Session>();
    expect(session.user.roles).to.deep.equal(['editor']);
    expect((await content('GET', '/api/v1/content/post', undefined, bearer(session.token))).json()).to.deep.equal({
      kind: 'session',
      tenant: 'acme',
    });
  });

  it('open a session in the requested tenant, else in default, else in the first tenant joined', async () => {
    const user = await newUser(admin, owner, ['editor']);
    const where = async (tenant?: string) => {
      const session = (await signIn(user, tenant)).json<Session>();
      return (await content('GET', '/api/v1/content/post', undefined, bearer(session.token))).json<{ tenant: string }>()
        .tenant;
    };
    for (const tenant_id of ['brand', 'acme']) await call('PUT', ofUser(user.id), { tenant_id, roles: ['editor'] });
    expect([await where(), await where('default'), await where('acme'), await where('brand')]).to.deep.equal([
      'default',
      'default',
      'acme',
      'brand',
    ]);
    await call('DELETE', `${ofUser(user.id)}/default`);
    expect(await where()).to.equal('brand');
    for (const tenant of ['default', 'nobody', 'ACME', ''])
      expect(statusAndError(await signIn(user, tenant)), tenant).to.deep.equal([401, 'invalid credentials']);
    expect(
      statusAndError(await signIn({ email: owner.user.email, password: 'Correct-Horse-7-battery' }, 'acme')),
      'a super admin as well',
    ).to.deep.equal([401, 'invalid credentials']);
  });

  it('end the sessions in the changed tenant permanently, and no others', async () => {
    const user = await newUser(admin, owner, ['editor']);
    const grant = (roles: readonly string[]) => call('PUT', ofUser(user.id), { tenant_id: 'acme', roles });
    await grant(['editor']);
    const [home, away] = [(await signIn(user)).json<Session>(), (await signIn(user, 'acme')).json<Session>()];
    const alive = async ({ token }: Session) =>
      (await admin('GET', '/api/admin/auth/me', undefined, bearer(token))).status;
    await grant(['editor']);
    expect(await alive(away), 'the same roles').to.equal(200);
    await grant(['reader']);
    expect([await alive(home), await alive(away)]).to.deep.equal([200, 401]);
    expect(
      statusAndError(await admin('POST', '/api/admin/auth/refresh', { refresh_token: away.refresh_token })),
    ).to.deep.equal([401, 'invalid refresh token']);
    const second = (await signIn(user, 'acme')).json<Session>();
    expect(await alive(second)).to.equal(200);
    expect((await call('DELETE', `${ofUser(user.id)}/acme`)).status).to.equal(204);
    expect([await alive(home), await alive(second)]).to.deep.equal([200, 401]);
    await grant(['reader']);
    expect([await alive(home), await alive(second)], 'a membership anew is no session anew').to.deep.equal([200, 401]);
    expect((await admin('POST', '/api/admin/auth/refresh', { refresh_token: home.refresh_token })).status).to.equal(
      200,
    );
  });

  it('end the sessions of a super admin in the tenant, although a super admin needs no membership', async () => {
    const user = await newUser(admin, owner, ['super_admin']);
    await call('DELETE', `${ofUser(user.id)}/default`);
    const session = (await signIn(user)).json<Session>();
    const alive = async () => (await admin('GET', '/api/admin/auth/me', undefined, bearer(session.token))).status;
    expect(await alive()).to.equal(200);
    await call('PUT', ofUser(user.id), { tenant_id: 'default', roles: ['editor'] });
    expect(await alive()).to.equal(401);
    await call('DELETE', `${ofUser(user.id)}/default`);
    expect(await alive(), 'no way back').to.equal(401);
  });

  it('list the members of a tenant', async () => {
    const [one, two] = [await newUser(admin, owner, ['reader']), await newUser(admin, owner, ['editor'])];
    await call('POST', '/api/admin/tenants', { slug: 'crowd' });
    for (const [user, role] of [
      [two, 'author'],
      [one, 'reader'],
    ] as const)
      await call('PUT', ofUser(user.id), { tenant_id: 'crowd', roles: [role] });
    const reply = await call('GET', '/api/admin/tenant-members/crowd?count=true');
    const members = reply.json<{ id: string; joined_at: string }[]>();
    expect(members.map(({ joined_at: _at, ...member }) => member)).to.deep.equal([
      { id: two.id, email: two.email, roles: ['author'], disabled: false },
      { id: one.id, email: one.email, roles: ['reader'], disabled: false },
    ]);
    expect(reply.headers['x-total-count']).to.equal('2');
    expect(
      (await call('GET', '/api/admin/tenant-members/crowd?limit=1&offset=1'))
        .json<{ id: string }[]>()
        .map(({ id }) => id),
    ).to.deep.equal([one.id]);
    expect(
      (await call('GET', '/api/admin/tenant-members/default?limit=200'))
        .json<{ id: string; roles: string[] }[]>()
        .find(({ id }) => id === owner.user.id)?.roles,
    ).to.deep.equal(['super_admin']);
    expect(statusAndError(await call('GET', '/api/admin/tenant-members/nobody'))).to.deep.equal([
      404,
      'tenant not found',
    ]);
  });

  it('refuse unknown users and tenants before they validate the body', async () => {
    const user = await newUser(admin, owner);
    for (const id of [v7(), 'no-uuid']) {
      expect(statusAndError(await call('GET', ofUser(id)))).to.deep.equal([404, 'user not found']);
      expect(statusAndError(await call('PUT', ofUser(id), {}))).to.deep.equal([404, 'user not found']);
      expect(statusAndError(await call('DELETE', `${ofUser(id)}/acme`))).to.deep.equal([404, 'user not found']);
    }
    expect(statusAndError(await call('PUT', ofUser(user.id), { tenant_id: 'nobody', roles: [] }))).to.deep.equal([
      404,
      'tenant not found',
    ]);
    for (const body of [
      {},
      { tenant_id: 'acme' },
      { tenant_id: 'acme', roles: ['no spaces'] },
      { tenant_id: 'acme', roles: 'editor' },
      { tenant_id: 7, roles: [] },
      { tenant_id: 'acme', roles: [], more: 1 },
    ]) {
      expect(statusAndError(await call('PUT', ofUser(user.id), body)), JSON.stringify(body)).to.deep.equal([
        422,
        'validation failed',
      ]);
    }
    const manager = await signInAs(admin, await newUser(admin, owner, ['admin']));
    for (const [method, path] of [
      ['GET', ofUser(user.id)],
      ['PUT', ofUser(user.id)],
      ['DELETE', `${ofUser(user.id)}/acme`],
      ['GET', '/api/admin/tenant-members/acme'],
    ] as const) {
      expect(statusAndError(await call(method, path, method === 'GET' ? undefined : {}, manager.token))).to.deep.equal([
        403,
        'insufficient permissions',
      ]);
    }
  });
});

describe('memberships on two processes', () => {
  const { processes } = useIdentityPair({ signals: openInProcessSignals() });

  it('end the sessions of a removed member on the other process', async () => {
    const [here, there] = processes();
    const owner = await setUpOwner(here.admin);
    const user = await newUser(here.admin, owner);
    const { token } = await signInAs(here.admin, user);
    const status = async () => (await there.content('GET', '/api/v1/content/post', undefined, bearer(token))).status;
    await eventually(async () => {
      expect(await status()).to.equal(200);
    });
    expect(
      (await here.admin('DELETE', `/api/admin/users/${user.id}/memberships/default`, undefined, bearer(owner.token)))
        .status,
    ).to.equal(204);
    await eventually(async () => {
      expect(await status()).to.equal(401);
    });
  });
});
