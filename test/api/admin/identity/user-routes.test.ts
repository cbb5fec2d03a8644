import { expect } from 'chai';
import { v7 } from 'uuid';
import { statusAndError } from '../../../support/http.ts';
import {
  OWNER,
  bearer,
  newUser,
  setUpOwner,
  signInAs,
  useIdentity,
  useOwnedIdentity,
} from '../../../support/identity-process.ts';
import type { Session } from '../../../support/owner.ts';

type User = {
  readonly id: string;
  readonly email: string;
  readonly roles: readonly string[];
  readonly disabled: boolean;
  readonly updated_at: string;
};

describe('the user routes', () => {
  const { admin, owner } = useOwnedIdentity();
  const call = (method: string, path: string, body?: unknown, token = owner.token) =>
    admin(method, path, body, bearer(token));
  const list = async () => (await call('GET', '/api/admin/users?limit=200')).json<User[]>();

  it('create and list users, and find them by any spelling of the e-mail address', async () => {
    const reply = await call('POST', '/api/admin/users', {
      email: ' Ada@Example.org',
      password: 'A-long-Password-1',
      roles: ['editor', 'custom.role', 'editor'],
    });
    expect(reply.status).to.equal(201);
    const user = reply.json<User>();
    expect(user).to.have.all.keys(
      'id',
      'email',
      'roles',
      'disabled',
      'mfa_enabled',
      'created_at',
      'updated_at',
      'last_login_at',
    );
    expect(user).to.deep.include({
      email: 'ada@example.org',
      roles: ['editor', 'custom.role'],
      disabled: false,
      mfa_enabled: false,
      last_login_at: null,
    });
    expect(await list()).to.deep.include(user);
    expect(
      statusAndError(
        await call('POST', '/api/admin/users', { email: 'ADA@example.org ', password: 'A-long-Password-1' }),
      ),
    ).to.deep.equal([409, 'a user with that email already exists']);
    expect((await signInAs(admin, { email: 'ADA@EXAMPLE.ORG', password: 'A-long-Password-1' })).user).to.deep.equal({
      id: user.id,
      email: 'ada@example.org',
      roles: ['editor', 'custom.role'],
    });
  });

  it('create one user for concurrent requests with one e-mail address', async () => {
    const replies = await Promise.all(
      Array.from({ length: 8 }, () =>
        call('POST', '/api/admin/users', { email: 'race@example.org', password: 'A-long-Password-1' }),
      ),
    );
    expect(replies.map(({ status }) => status).toSorted()).to.deep.equal([
      201,
      ...Array.from({ length: 7 }, () => 409),
    ]);
  });

  it('refuse an invalid e-mail address, a weak password and invalid roles', async () => {
    const weak = await call('POST', '/api/admin/users', { email: 'weak@example.org', password: 'short' });
    expect(statusAndError(weak)).to.deep.equal([422, 'password does not meet the policy']);
    expect(weak.json<{ fields: { field: string }[] }>().fields[0]!.field).to.equal('password');
    for (const body of [
      { email: 'nobody', password: 'A-long-Password-1' },
      { email: 'x@example.org', password: 'A-long-Password-1', roles: ['no spaces'] },
      { email: 'x@example.org' },
      { password: 'A-long-Password-1' },
      { email: 'x@example.org', password: 'A-long-Password-1', is_admin: true },
      { email: 7, password: [] },
      [],
      'text',
      null,
    ]) {
      expect((await call('POST', '/api/admin/users', JSON.stringify(body))).status, JSON.stringify(body)).to.be.oneOf([
        415, 422,
      ]);
      const reply = await admin('POST', '/api/admin/users', JSON.stringify(body), {
        ...bearer(owner.token),
        'content-type': 'application/json',
      });
      expect(reply.status, JSON.stringify(body)).to.equal(422);
    }
    expect((await list()).some(({ email }) => email === 'x@example.org')).to.equal(false);
  });

  it('answer pages, with the total on request', async () => {
    const all = await list();
    const page = await call('GET', '/api/admin/users?limit=1&offset=1&count=true');
    expect(page.json<User[]>()).to.deep.equal([all[1]]);
    expect(page.headers['x-total-count']).to.equal(String(all.length));
    for (const query of ['limit=0', 'limit=201', 'limit=x', 'offset=-1', 'offset=x']) {
      expect(statusAndError(await call('GET', `/api/admin/users?${query}`))).to.deep.equal([
        400,
        `invalid query parameter: ${query.split('=')[0]}`,
      ]);
    }
  });

  it('change roles, state and password', async () => {
    const user = await newUser(admin, owner);
    const roles = await call('PUT', `/api/admin/users/${user.id}/roles`, { roles: ['admin', 'super_admin'] });
    expect(roles.json<User>()).to.deep.include({
      id: user.id,
      email: user.email,
      roles: ['admin', 'super_admin'],
      disabled: false,
    });
    const state = await call('PUT', `/api/admin/users/${user.id}/state`, { disabled: true });
    expect([state.status, state.json<User>().disabled]).to.deep.equal([200, true]);
    expect(
      (await call('PUT', `/api/admin/users/${user.id}/state`, { disabled: false })).json<User>().disabled,
    ).to.equal(false);
    expect(
      statusAndError(await call('PUT', `/api/admin/users/${user.id}/password`, { password: 'weak' })),
    ).to.deep.equal([422, 'password does not meet the policy']);
    expect(
      (await call('PUT', `/api/admin/users/${user.id}/password`, { password: 'A-brand-new-Pass-3' })).status,
    ).to.equal(204);
    expect(
      statusAndError(await admin('POST', '/api/admin/auth/login', { email: user.email, password: user.password })),
    ).to.deep.equal([401, 'invalid credentials']);
    expect((await signInAs(admin, { ...user, password: 'A-brand-new-Pass-3' })).user.roles).to.deep.equal([
      'super_admin',
      'admin',
    ]);
  });

  it('free the e-mail address of a deleted user', async () => {
    const user = await newUser(admin, owner);
    expect((await call('DELETE', `/api/admin/users/${user.id}`)).status).to.equal(204);
    expect((await list()).some(({ id }) => id === user.id)).to.equal(false);
    expect(statusAndError(await call('DELETE', `/api/admin/users/${user.id}`))).to.deep.equal([404, 'user not found']);
    const again = await call('POST', '/api/admin/users', { email: user.email, password: user.password });
    expect(again.status).to.equal(201);
    expect(again.json<User>().id).to.not.equal(user.id);
    expect((await signInAs(admin, user)).user.id).to.equal(again.json<User>().id);
  });

  it('answer 404 for an unknown user before they validate the body', async () => {
    for (const id of [v7(), 'no-uuid', '1']) {
      for (const [method, path, body] of [
        ['PUT', 'roles', {}],
        ['PUT', 'state', { disabled: 'x' }],
        ['PUT', 'password', {}],
      ] as const) {
        expect(statusAndError(await call(method, `/api/admin/users/${id}/${path}`, body))).to.deep.equal([
          404,
          'user not found',
        ]);
      }
      expect(statusAndError(await call('DELETE', `/api/admin/users/${id}`))).to.deep.equal([404, 'user not found']);
    }
  });

  it('are for super admins', async () => {
    const manager = await signInAs(admin, await newUser(admin, owner, ['admin', 'editor']));
    for (const [method, path] of [
      ['GET', '/api/admin/users'],
      ['POST', '/api/admin/users'],
      ['PUT', `/api/admin/users/${owner.user.id}/roles`],
      ['DELETE', `/api/admin/users/${owner.user.id}`],
    ] as const) {
      expect(statusAndError(await call(method, path, method === 'GET' ? undefined : {}, manager.token))).to.deep.equal([
        403,
        'insufficient permissions',
      ]);
      expect(statusAndError(await admin(method, path))).to.deep.equal([401, 'authentication required']);
    }
  });
});

describe('the last super admin', () => {
  const { admin } = useIdentity();

  it('stays, also when concurrent requests try to remove the role', async () => {
    const owner = await setUpOwner(admin);
    const only = (method: string, path: string, body?: unknown) =>
      admin(method, `/api/admin/users/${owner.user.id}${path}`, body, bearer(owner.token));
    for (const reply of [
      await only('DELETE', ''),
      await only('PUT', '/roles', { roles: ['editor'] }),
      await only('PUT', '/state', { disabled: true }),
    ]) {
      expect(statusAndError(reply)).to.deep.equal([409, 'the last super_admin cannot be removed']);
    }
    const second = await newUser(admin, owner, ['super_admin']);
    const session = await signInAs(admin, second);
    const rivals = await Promise.all([
      admin('PUT', `/api/admin/users/${second.id}/roles`, { roles: [] }, bearer(owner.token)),
      admin('PUT', `/api/admin/users/${owner.user.id}/state`, { disabled: true }, bearer(session.token)),
      admin('DELETE', `/api/admin/users/${owner.user.id}`, undefined, bearer(session.token)),
      admin('DELETE', `/api/admin/users/${second.id}`, undefined, bearer(owner.token)),
    ]);
    // A request that came second may find its session ended.
    for (const { status } of rivals) expect(status).to.be.oneOf([200, 204, 401, 403, 404, 409]);
    const survivors = await Promise.all(
      [OWNER, second].map(({ email, password }) => admin('POST', '/api/admin/auth/login', { email, password })),
    );
    const roles = survivors.filter(({ status }) => status === 200).flatMap((reply) => reply.json<Session>().user.roles);
    expect(roles.filter((role) => role === 'super_admin')).to.have.length(1);
  });
});
