import { expect } from 'chai';
import { type Call, caller } from '../../../support/http.ts';
import { useService } from '../../../support/service.ts';

type Item = {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly position: string;
  readonly actor: { readonly kind: string; readonly id: string };
};
type Page = { readonly data: readonly Item[]; readonly next_cursor: string };

const PASSWORD = 'Another-Good-Pass-1';

describe('the audit routes', () => {
  const service = useService();
  const people = new Map<string, { readonly id: string; readonly call: Call }>();
  let reader: Call;

  const person = (name: string) => {
    const found = people.get(name);
    if (!found) throw new Error(`no person ${name}`);
    return found;
  };

  async function join(name: string, tenant: string): Promise<void> {
    const email = `${name}@palimpsest.test`;
    const body = { email, password: PASSWORD, roles: ['admin'], tenant_id: tenant };
    const created = await service.owner('POST', '/api/admin/users', body);
    expect(created.status, created.text).to.equal(201);
    const { token } = (await service.admin('POST', '/api/admin/auth/login', { email, password: PASSWORD })).json<{
      token: string;
    }>();
    people.set(name, {
      id: created.json<{ id: string }>().id,
      call: caller(() => service.service().adminUrl, { authorization: `Bearer ${token}` }),
    });
  }

  before(async () => {
    for (const slug of ['acme', 'brand'])
      expect((await service.owner('POST', '/api/admin/tenants', { slug, name: slug })).status).to.equal(201);
    await join('ada', 'default');
    await join('bea', 'acme');
    await join('cyd', 'brand');
    const saved = await service.owner('PUT', '/api/admin/config', { values: { LOG_LEVEL: 'error' } });
    expect(saved.status, saved.text).to.be.oneOf([200, 409]);
    const made = await person('ada').call('POST', '/api/admin/admin-tokens', {
      name: 'audit',
      grants: ['audit:read'],
      password: PASSWORD,
    });
    reader = caller(() => service.service().adminUrl, {
      authorization: `Bearer ${made.json<{ raw_token: string }>().raw_token}`,
    });
  });

  /** Every event that the caller can list, by pages of two. */
  async function listed(call: Call, query = ''): Promise<readonly Item[]> {
    const items: Item[] = [];
    let cursor = '';
    do {
      const reply = await call(
        'GET',
        `/api/admin/audit?limit=2${cursor && `&cursor=${cursor}`}${query && `&${query}`}`,
      );
      expect(reply.status, reply.text).to.equal(200);
      const page = reply.json<Page>();
      items.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor !== '');
    expect(items.map(({ position }) => position)).to.deep.equal(
      items.map(({ position }) => position).toSorted((a, b) => (a < b ? 1 : -1)),
    );
    expect(new Set(items.map(({ id }) => id)).size).to.equal(items.length);
    return items;
  }

  const ofInstallation = (items: readonly Item[]) =>
    items
      .filter(({ stream }) => /^(user|tenant)-|^settings-default\.(license|console|feature)/.test(stream))
      .map(({ type, stream }) => `${type} ${stream}`);
  const user = (name: string) => `user-default.${person(name).id}`;

  it('show users, tenants, sign-ins and settings of the installation to super admins only', async () => {
    const all = ofInstallation(await listed(service.owner));
    for (const name of ['ada', 'bea', 'cyd'])
      expect(all).to.include.members([`UserCreated ${user(name)}`, `UserSignedIn ${user(name)}`]);
    expect(all).to.include.members(['TenantCreated tenant-default.acme', 'TenantCreated tenant-default.brand']);
    for (const call of [person('ada').call, reader])
      for (const line of ofInstallation(await listed(call))) {
        expect(line).to.not.contain(person('bea').id).and.to.not.contain(person('cyd').id);
        expect(line).to.not.match(/^Tenant.*\.(acme|brand)$|^settings/i);
      }
  });

  it("show an admin the tenant's own events, its changes, memberships and sign-ins included", async () => {
    const expected = (name: string, tenant: string) => [
      `UserSignedIn ${user(name)}`,
      `UserCreated ${user(name)}`,
      `TenantCreated tenant-default.${tenant}`,
    ];
    expect(ofInstallation(await listed(person('bea').call))).to.deep.equal(expected('bea', 'acme'));
    expect(ofInstallation(await listed(person('cyd').call))).to.deep.equal(expected('cyd', 'brand'));
    expect(ofInstallation(await listed(person('ada').call))).to.include.members(expected('ada', 'default'));
    const acme = await listed((method, path) => service.owner(method, path, undefined, { 'x-tenant-id': 'acme' }));
    expect(ofInstallation(acme), 'a super admin who acts in acme').to.deep.equal(expected('bea', 'acme'));
    expect(ofInstallation(await listed(person('bea').call, 'type=UserSignedIn'))).to.deep.equal([
      `UserSignedIn ${user('bea')}`,
    ]);
    expect(ofInstallation(await listed(person('bea').call, `resource=user:${person('bea').id}`))).to.have.length(2);
  });

  it('hide the events of others from every filter and from the route of one event', async () => {
    const hidden = (await listed(service.owner)).filter(
      ({ stream }) => stream === user('bea') || stream === 'tenant-default.brand' || stream.startsWith('settings-'),
    );
    expect(hidden.length).to.be.at.least(3);
    for (const { id } of hidden)
      for (const call of [person('ada').call, reader])
        expect((await call('GET', `/api/admin/audit/${id}`)).status).to.equal(404);
    for (const call of [person('ada').call, reader])
      for (const query of [
        `resource=user:${person('bea').id}`,
        `resource=${person('bea').id}`,
        `actor=user:${person('bea').id}`,
        `actor=${person('bea').id}`,
        'resource=tenant:brand',
        'resource=settings:console',
        'type=TenantChanged',
      ])
        expect(await listed(call, query), query).to.deep.equal([]);
    const [own] = await listed(person('bea').call, 'type=TenantCreated');
    const detail = await person('bea').call('GET', `/api/admin/audit/${own?.id ?? ''}`);
    expect([detail.status, detail.json<{ data: object }>().data]).to.deep.equal([
      200,
      { slug: 'acme', name: 'acme', domains: [], disabled: false },
    ]);
  });
});
