import { expect } from 'chai';
import { v7 } from 'uuid';
import { resultOf, statusAndError } from '../../../support/http.ts';
import { bearer, newUser, signInAs, useOwnedIdentity } from '../../../support/identity-process.ts';

type Access = {
  readonly active: boolean;
  readonly roles: string[];
  readonly scopes: string[] | null;
  readonly schemas: string[] | null;
  readonly as_of: string;
  readonly rules: { schema_name: string; actions: string[]; field_mask: string[] }[];
};

const ALL = ['read', 'create', 'update', 'delete', 'publish'];
const everything = [{ schema_name: '*', actions: ALL, field_mask: [] }];

describe('GET /api/admin/access', () => {
  const { admin, process: running, owner } = useOwnedIdentity();
  const call = (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
    admin(method, `/api/admin${path}`, body, { ...bearer(owner.token), ...headers });
  async function access(query: string, headers: Readonly<Record<string, string>> = {}): Promise<Access> {
    return resultOf<Access>(await call('GET', `/access?${query}`, undefined, headers));
  }
  /** A point in time between the previous and the next change. */
  function moment(): string {
    advance(1_000);
    const at = new Date(Date.now() + ahead).toISOString();
    advance(1_000);
    return at;
  }
  let ahead = 0;
  function advance(ms: number): void {
    running().advance(ms);
    ahead += ms;
  }
  const rule = async (body: object) => expect((await call('POST', '/permissions', body)).status).to.equal(200);

  it('answers the access of a role by the rules at that time', async () => {
    await rule({ role: 'author', schema_name: '*', actions: ['read'] });
    await rule({ role: 'author', schema_name: 'post', actions: ['read', 'update'], field_mask: ['secret'] });
    const then = moment();
    await rule({ role: 'author', schema_name: 'post', actions: [] });
    const now = await access('role=author');
    expect(now).to.deep.include({ active: true, roles: ['author'], scopes: null, schemas: null });
    expect(now.rules).to.deep.equal([
      { schema_name: '*', actions: ['read'], field_mask: [] },
      { schema_name: 'post', actions: [], field_mask: [] },
    ]);
    const before = await access(`role=author&as_of=${then}`);
    expect(before.as_of).to.equal(then);
    expect(before.rules, 'a custom role alone writes nothing').to.deep.equal([
      { schema_name: '*', actions: ['read'], field_mask: [] },
      { schema_name: 'post', actions: ['read'], field_mask: ['secret'] },
    ]);
    expect((await access('role=editor')).rules).to.deep.equal(everything);
    expect((await access('role=admin')).rules).to.deep.equal(everything);
    expect((await access('role=nobody')).rules).to.deep.equal([]);
    expect((await access('role=editor&as_of=2020-01-01T00:00:00Z')).rules, 'before there were any').to.deep.equal([]);
  });

  it('answers the access of a user by roles, memberships and state at that time', async () => {
    await rule({ role: 'masker', schema_name: '*', actions: ['read', 'update'], field_mask: ['secret'] });
    await rule({ role: 'clerk', schema_name: '*', actions: ['read'], field_mask: ['secret', 'other'] });
    const early = moment();
    const user = await newUser(admin, owner, ['masker', 'clerk']);
    const first = moment();
    await call('PUT', `/users/${user.id}/roles`, { roles: ['editor', 'masker'] });
    const second = moment();
    await call('PUT', `/users/${user.id}/state`, { disabled: true });
    const third = moment();
    await call('DELETE', `/users/${user.id}`);
    const at = (as_of: string) => access(`user_id=${user.id}&as_of=${as_of}`);
    expect(statusAndError(await call('GET', `/access?user_id=${user.id}&as_of=${early}`))).to.deep.equal([
      404,
      'user not found',
    ]);
    expect(await at(first)).to.deep.include({
      active: true,
      roles: ['masker', 'clerk'],
      rules: [{ schema_name: '*', actions: ['read'], field_mask: ['secret'] }],
    });
    expect(await at(second)).to.deep.include({ active: true, roles: ['editor', 'masker'], rules: everything });
    expect(await at(third)).to.deep.include({ active: false, roles: ['editor', 'masker'], rules: [] });
    expect(await access(`user_id=${user.id}`)).to.deep.include({ active: false, rules: [] });
    expect(await access(`user_id=${owner.user.id}`)).to.deep.include({
      active: true,
      roles: ['super_admin'],
      rules: everything,
    });
  });

  it('answers the access of an API key by scopes, content types, revocation and expiry at that time', async () => {
    const make = async (body: object) =>
      (await call('POST', '/api-keys', { name: 'k', ...body })).json<{ id: string }>().id;
    const expires_at = new Date(Date.now() + ahead + 60_000).toISOString();
    const [narrow, reader, silent] = [
      await make({
        roles: ['editor'],
        scopes: ['content:read', 'content:delete'],
        schemas: ['post', 'page'],
        expires_at,
      }),
      await make({ roles: ['author'], scopes: ['*:*'] }),
      await make({ roles: ['editor'] }),
    ];
    const then = moment();
    await call('POST', `/api-keys/${reader}/revoke`);
    advance(120_000);
    expect(await access(`api_key_id=${narrow}&as_of=${then}`)).to.deep.include({
      active: true,
      roles: ['editor'],
      scopes: ['content:read', 'content:delete'],
      schemas: ['post', 'page'],
      rules: [
        { schema_name: 'page', actions: ['read', 'delete'], field_mask: [] },
        { schema_name: 'post', actions: ['read', 'delete'], field_mask: [] },
      ],
    });
    expect(await access(`api_key_id=${narrow}`), 'expired').to.deep.include({ active: false, rules: [] });
    expect((await access(`api_key_id=${reader}&as_of=${then}`)).rules).to.deep.equal([
      { schema_name: '*', actions: ['read'], field_mask: [] },
      { schema_name: 'post', actions: [], field_mask: [] },
    ]);
    expect(await access(`api_key_id=${reader}`), 'revoked').to.deep.include({ active: false, rules: [] });
    expect(await access(`api_key_id=${silent}`), 'without a scope').to.deep.include({
      active: true,
      scopes: [],
      rules: [],
    });
    await call('DELETE', `/api-keys/${reader}`);
    expect(await access(`api_key_id=${reader}&as_of=${then}`), 'the past of a deleted key stays').to.deep.include({
      active: true,
    });
  });

  it('answers 404 for users and API keys of another tenant', async () => {
    await call('POST', '/tenants', { slug: 'acme' });
    const [email, password] = [`${v7()}@palimpsest.test`, 'Another-Good-Pass-1'];
    const { id } = (await call('POST', '/users', { email, password, roles: ['admin'], tenant_id: 'acme' })).json<{
      id: string;
    }>();
    const { token } = await signInAs(admin, { email, password });
    const asAdmin = (query: string) => admin('GET', `/api/admin/access?${query}`, undefined, bearer(token));
    expect((await asAdmin(`user_id=${id}`)).json()).to.deep.include({
      tenant_id: 'acme',
      active: true,
      roles: ['admin'],
      rules: everything,
    });
    expect((await asAdmin('role=author')).json<Access>().rules, 'rules of another tenant').to.deep.equal([]);
    expect(statusAndError(await asAdmin(`user_id=${owner.user.id}`))).to.deep.equal([404, 'user not found']);
    const key = (await call('POST', '/api-keys', { name: 'k' })).json<{ id: string }>();
    expect(statusAndError(await asAdmin(`api_key_id=${key.id}`))).to.deep.equal([404, 'api key not found']);
    expect(await access(`user_id=${id}`), 'a super admin may ask: no member here').to.deep.include({
      active: false,
      roles: [],
      rules: [],
    });
    await call('PUT', '/tenants/acme', { disabled: true });
    const there = { 'x-tenant-id': 'acme' };
    expect(await access(`user_id=${id}`, there), 'a disabled tenant').to.deep.include({ active: false, rules: [] });
    expect((await access(`user_id=${owner.user.id}`, there)).rules, 'but for super admins').to.deep.equal(everything);
  });

  it('refuses a query without exactly one known subject, and a time in the future', async () => {
    for (const query of ['', 'role=a&user_id=b', `user_id=${v7()}&api_key_id=${v7()}`]) {
      expect(statusAndError(await call('GET', `/access?${query}`))).to.deep.equal([
        400,
        'exactly one of role, user_id and api_key_id is needed',
      ]);
    }
    for (const as_of of ['2999-01-01T00:00:00Z', 'yesterday', '2026-13-01T00:00:00Z', '']) {
      expect(statusAndError(await call('GET', `/access?role=editor&as_of=${as_of}`)), as_of).to.deep.equal([
        400,
        'invalid query parameter: as_of',
      ]);
    }
    expect(statusAndError(await call('GET', '/access?role=no%20spaces'))).to.deep.equal([
      400,
      'invalid query parameter: role',
    ]);
    for (const id of [v7(), 'x']) {
      expect(statusAndError(await call('GET', `/access?user_id=${id}`))).to.deep.equal([404, 'user not found']);
      expect(statusAndError(await call('GET', `/access?api_key_id=${id}`))).to.deep.equal([404, 'api key not found']);
    }
  });
});
