import { expect } from 'chai';
import { type Call, caller } from '../../../support/http.ts';
import { useService } from '../../../support/service.ts';

type Item = { readonly id: string; readonly type: string; readonly stream: string };

const PASSWORD = 'Another-Good-Pass-1';

describe('the change of an event', () => {
  const service = useService();
  let entry: string;
  let events: readonly Item[];

  /** Signs in a new person. */
  async function join(name: string, { tenant, role }: { tenant: string; role: string }): Promise<Call> {
    const email = `${name}@palimpsest.test`;
    const body = { email, password: PASSWORD, roles: [role], tenant_id: tenant };
    expect((await service.owner('POST', '/api/admin/users', body)).status).to.equal(201);
    const { token } = (await service.admin('POST', '/api/admin/auth/login', { email, password: PASSWORD })).json<{
      token: string;
    }>();
    return caller(() => service.service().adminUrl, { authorization: `Bearer ${token}` });
  }

  const change = (id: string) => `/api/admin/audit/${id}/change`;

  before(async () => {
    expect((await service.owner('POST', '/api/admin/tenants', { slug: 'acme', name: 'acme' })).status).to.equal(201);
    const type = { name: 'note', with_soft_delete: true, fields: [{ name: 'title', field_type: 'text' }] };
    expect((await service.owner('POST', '/api/admin/schemas', type)).status).to.equal(200);
    const path = '/api/v1/content/note';
    entry = (await service.ownerContent('POST', path, { data: { title: 'One' } })).json<{ id: string }>().id;
    await service.ownerContent('PUT', `${path}/${entry}`, { data: { title: 'Two' } });
    await service.ownerContent('DELETE', `${path}/${entry}`);
    const page = await service.owner('GET', `/api/admin/audit?resource=entry:${entry}`);
    events = page.json<{ data: Item[] }>().data.toReversed();
  });

  it('has the whole entry before and after it', async () => {
    const changes: Record<string, unknown>[] = [];
    for (const { id } of events) {
      const reply = await service.owner('GET', change(id));
      expect(reply.status, reply.text).to.equal(200);
      changes.push(reply.json());
    }
    expect(changes.map(({ event, version }) => [event, version])).to.deep.equal([
      ['after_create', 1],
      ['after_update', 2],
      ['after_delete', 3],
    ]);
    expect(changes[1]).to.deep.include({ event_id: events[1]?.id, tenant: 'default', schema: 'note', entry_id: entry });
    expect(changes.map(({ data }) => data)).to.have.deep.nested.property('[1].title', 'Two');
    expect(changes.map(({ old_data: old }) => old)).to.have.deep.nested.property('[1].title', 'One');
    expect([changes[0]?.['old_data'], changes[2]?.['data']]).to.deep.equal([null, null]);
  });

  it('is for those who may read the audit log of the tenant', async () => {
    const ada = await join('ada', { tenant: 'default', role: 'admin' });
    const bea = await join('bea', { tenant: 'acme', role: 'admin' });
    const eva = await join('eva', { tenant: 'default', role: 'editor' });
    const id = events[0]?.id ?? '';
    expect((await ada('GET', change(id))).status).to.equal(200);
    expect((await bea('GET', change(id))).status).to.equal(404);
    expect((await eva('GET', change(id))).status).to.equal(403);
    expect((await service.admin('GET', change(id))).status).to.equal(401);
    for (const [grant, status] of [
      ['audit:read', 200],
      ['users:read', 403],
    ] as const) {
      const body = { name: grant, grants: [grant], password: PASSWORD };
      const { raw_token: token } = (await ada('POST', '/api/admin/admin-tokens', body)).json<{ raw_token: string }>();
      const call = caller(() => service.service().adminUrl, { authorization: `Bearer ${token}` });
      expect((await call('GET', change(id))).status, grant).to.equal(status);
    }
  });

  it('exists only for events of entries', async () => {
    const [created] = (await service.owner('GET', '/api/admin/audit?type=ContentTypeSaved')).json<{ data: Item[] }>()
      .data;
    expect(created).to.not.equal(undefined);
    for (const id of [created?.id ?? '', '01890000-0000-7000-8000-000000000001'])
      expect((await service.owner('GET', change(id))).status).to.equal(404);
  });
});
