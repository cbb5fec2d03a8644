import { expect } from 'chai';
import { type Call, caller } from '../support/http.ts';
import { useService } from '../support/service.ts';

type Entry = { readonly id: string; readonly version: number };
type Step = readonly [route: string, body?: object];

const PASSWORD = 'Correct-Horse-8-battery';
const FIELDS = [
  { name: 'title', field_type: 'text' },
  { name: 'secret', field_type: 'text' },
  { name: 'friends', field_type: 'relation', relation_to: 'note', relation_type: 'many_to_many' },
];
const OPTIONS = { fields: FIELDS, with_draft_publish: true, with_soft_delete: true };

/** Every route that answers a write with the entry, in an order in which each move is allowed. */
const CONTENT: readonly Step[] = [
  ['PUT /api/v1/content/{schema}/{id}', { data: {} }],
  ['PUT /api/v1/content/{schema}/{id}/publish'],
  ['PUT /api/v1/content/{schema}/{id}/unpublish'],
  ['PUT /api/v1/content/{schema}/{id}/archive'],
  ['PUT /api/v1/content/{schema}/{id}/unarchive'],
  ['PUT /api/v1/content/{schema}/{id}/relations/{field}', { ids: [] }],
  ['PUT /api/v1/content/{schema}/{id}/revisions/{rev_id}/restore'],
  ['DELETE /api/v1/content/{schema}/{id}'],
  ['PUT /api/v1/content/{schema}/{id}/undelete'],
];
const CONSOLE: readonly Step[] = [
  ['PUT /api/admin/content/{id}', {}],
  ['PUT /api/admin/content/{id}/publish'],
  ['PUT /api/admin/content/{id}/unpublish'],
  ['PUT /api/admin/content/{id}/archive'],
  ['PUT /api/admin/content/{id}/unarchive'],
  ['PUT /api/admin/content/{id}/revisions/{rev_id}/restore'],
  ['DELETE /api/admin/content/{id}'],
  ['PUT /api/admin/content/{id}/undelete'],
];
const CREATING = ['POST /api/v1/content/{schema}', 'POST /api/v1/content/{schema}/bulk', 'POST /api/admin/content'];

describe('the response to a write by a caller that may not read', () => {
  const service = useService();
  let editor: { readonly admin: Call; readonly content: Call };
  let key: Call;
  let token: Call;

  before(async () => {
    const made = async (path: string, body: object) => {
      const reply = await service.owner('POST', path, body);
      expect(reply.status, reply.text).to.be.oneOf([200, 201]);
      return reply;
    };
    await made('/api/admin/schemas', { name: 'note', ...OPTIONS });
    await made('/api/admin/schemas', { name: 'box', ...OPTIONS, transports: { rest: 'w' } });
    const writes = ['create', 'update', 'delete', 'publish'];
    await made('/api/admin/permissions', { role: 'editor', schema_name: '*', actions: writes });
    await made('/api/admin/permissions', { role: 'reader', schema_name: '*', actions: ['*'] });
    const who = { email: 'editor@palimpsest.test', password: PASSWORD };
    await made('/api/admin/users', { ...who, roles: ['editor'] });
    const session = (await service.admin('POST', '/api/admin/auth/login', who)).json<{ token: string }>();
    const headers = { authorization: `Bearer ${session.token}` };
    editor = {
      admin: caller(() => service.service().adminUrl, headers),
      content: caller(() => service.service().contentUrl, headers),
    };
    key = await service.key({ roles: ['editor', 'reader'], scopes: ['content:write', 'content:delete'] });
    const raw = await made('/api/admin/admin-tokens', {
      name: 'writer',
      grants: ['content:write'],
      password: 'Correct-Horse-7-battery',
    });
    token = caller(() => service.service().adminUrl, {
      authorization: `Bearer ${raw.json<{ raw_token: string }>().raw_token}`,
    });
  });

  async function entryOf(schema: string): Promise<Entry> {
    const data = { title: 'shown', secret: 'hidden value' };
    const reply = await service.owner('POST', '/api/admin/content', { schema_name: schema, data });
    expect(reply.status, reply.text).to.equal(201);
    expect(reply.json()['data'], 'the owner may read').to.include(data);
    return reply.json<Entry>();
  }

  /** Carries out the steps on one entry. Each response shows only the outcome. */
  async function carryOut(call: Call, steps: readonly Step[], schema: string): Promise<void> {
    const { id } = await entryOf(schema);
    for (const [route, body] of steps) {
      const [method = '', path = ''] = route.split(' ');
      const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
        String({ schema, id, field: 'friends', rev_id: '1' }[name]),
      );
      const reply = await call(method, filled, body);
      expect(reply.status, `${route}: ${reply.text}`).to.equal(method === 'DELETE' ? 204 : 200);
      if (method === 'DELETE') continue;
      expect(reply.json(), route).to.have.all.keys('id', 'version', 'status');
      expect(reply.headers['etag']).to.equal(`"${String(reply.json()['version'])}"`);
    }
  }

  async function create(call: Call, schema: string): Promise<void> {
    const one = await call('POST', `/api/v1/content/${schema}`, { data: { secret: 's' } });
    expect(one.json()).to.include({ version: 1, status: 'draft' }).and.have.all.keys('id', 'version', 'status');
    const bulk = await call('POST', `/api/v1/content/${schema}/bulk`, { entries: [{ data: {} }, { data: {} }] });
    expect(bulk.status, bulk.text).to.equal(201);
    const { created, data } = bulk.json<{ created: number; data: object[] }>();
    expect([created, data.length]).to.deep.equal([2, 2]);
    for (const entry of data) expect(entry).to.have.all.keys('id', 'version', 'status');
  }

  async function createInConsole(call: Call): Promise<void> {
    const reply = await call('POST', '/api/admin/content', { schema_name: 'note', data: { title: 'new' } });
    expect(reply.json(), reply.text).to.have.all.keys('id', 'version', 'status');
  }

  it('is tested here for every route that responds with the written entry', () => {
    const written = service
      .service()
      .routes.filter(({ responses }) => /"title":"Written(Admin)?Entry"/.test(JSON.stringify(responses)))
      .map(({ method, path }) => `${method} ${path}`);
    const steps = [...CONTENT, ...CONSOLE].map(([line]) => line).filter((line) => !line.startsWith('DELETE'));
    expect([...steps, ...CREATING].toSorted()).to.deep.equal(written.toSorted());
  });

  it('holds id, version and status under a rule without `read`', async () => {
    expect((await editor.content('GET', '/api/v1/content/note')).status).to.equal(403);
    await carryOut(editor.content, CONTENT, 'note');
    await carryOut(editor.admin, CONSOLE, 'note');
    await create(editor.content, 'note');
    await createInConsole(editor.admin);
  });

  it('holds id, version and status for an API key without the scope to read', async () => {
    expect((await key('GET', '/api/v1/content/note')).status).to.equal(403);
    await carryOut(key, CONTENT, 'note');
    await create(key, 'note');
  });

  it('holds id, version and status for an admin token without the grant to read', async () => {
    expect((await token('GET', '/api/admin/content')).status).to.equal(403);
    await carryOut(token, CONSOLE, 'note');
    await createInConsole(token);
  });

  it('holds id, version and status over a write-only transport, which does not restrict the console', async () => {
    expect((await service.ownerContent('GET', '/api/v1/content/box')).status).to.equal(405);
    await carryOut(service.ownerContent, CONTENT, 'box');
    await create(service.ownerContent, 'box');
  });

  it('repeats no more than that for a repeated Idempotency-Key', async () => {
    const repeat = { 'idempotency-key': 'write-without-read' };
    const post = () => key('POST', '/api/v1/content/note', { data: { secret: 's' } }, repeat);
    expect((await post()).status).to.equal(201);
    const again = await post();
    expect(again.headers['idempotency-replayed']).to.equal('true');
    expect(again.json()).to.have.all.keys('id', 'version', 'status');
  });
});
