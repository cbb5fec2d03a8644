import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { type Call, resultOf, statusAndError } from '../support/http.ts';
import { useService } from '../support/service.ts';

type Rule = {
  readonly id: string;
  readonly role: string;
  readonly schema_name: string;
  readonly actions: readonly string[];
  readonly field_mask: readonly string[];
  readonly created_at: string;
  readonly updated_at: string;
};
type Entry = { readonly id: string; readonly data: Readonly<Record<string, unknown>> };
type Person = { readonly admin: Call; readonly content: Call };

const DENIED = [403, 'permission denied'];

/** A service with several users. */
function useRules() {
  const service = useService();
  const rule = async (body: object, headers: Readonly<Record<string, string>> = {}) => {
    return resultOf<Rule>(await service.owner('POST', '/api/admin/permissions', body, headers));
  };
  async function person(roles: readonly string[], tenant = 'default'): Promise<Person> {
    const who = { email: `${randomUUID()}@palimpsest.test`, password: 'Correct-Horse-8-battery' };
    const made = await service.owner('POST', '/api/admin/users', { ...who, roles, tenant_id: tenant });
    expect(made.status, made.text).to.equal(201);
    // Sign in through the Content API, because this test does not test the sign-in limit per address.
    const { token } = (await service.content('POST', '/api/v1/auth/token', who)).json<{ token: string }>();
    const headers = { authorization: `Bearer ${token}` };
    const by =
      (call: Call): Call =>
      (method, path, body, more) =>
        call(method, path, body, { ...headers, ...more });
    return { admin: by(service.admin), content: by(service.content) };
  }
  return { service, rule, person };
}

describe('access rules on the Admin API', () => {
  const { service, rule, person } = useRules();
  const list = async (query = '') => (await service.owner('GET', `/api/admin/permissions${query}`)).json<Rule[]>();

  it('initially contain one rule, which allows editors everything', async () => {
    const [first, ...others] = await list();
    expect(others).to.deep.equal([]);
    expect(first).to.have.all.keys('id', 'role', 'schema_name', 'actions', 'field_mask', 'created_at', 'updated_at');
    expect(first).to.deep.include({ role: 'editor', schema_name: '*', actions: ['*'], field_mask: [] });
  });

  it('can be created, replaced by a rule for the same role and content type, changed in part, and deleted', async () => {
    const made = await rule({ role: 'author', schema_name: 'post', actions: ['read', 'read'], field_mask: ['secret'] });
    expect(made).to.deep.include({ role: 'author', schema_name: 'post', actions: ['read'], field_mask: ['secret'] });
    const replaced = await rule({ role: 'author', schema_name: 'post', actions: ['read', 'create'] });
    expect(replaced).to.deep.equal({
      ...made,
      actions: ['read', 'create'],
      field_mask: [],
      updated_at: replaced.updated_at,
    });
    expect(
      await rule({ role: 'author', schema_name: 'post', actions: ['read', 'create'] }),
      'the same again',
    ).to.deep.equal(replaced);
    const changed = (
      await service.owner('PUT', `/api/admin/permissions/${made.id}`, { field_mask: ['title'] })
    ).json<Rule>();
    expect(changed).to.deep.equal({ ...replaced, field_mask: ['title'], updated_at: changed.updated_at });
    expect(await list('?role=author')).to.deep.equal([changed]);
    const other = await rule({ role: 'author', schema_name: '*', actions: [] });
    expect((await list('?role=author&count=true')).map(({ id }) => id)).to.deep.equal([other.id, made.id]);
    expect((await list('?schema_name=*')).map(({ role }) => role)).to.deep.equal(['author', 'editor']);
    expect((await list('?limit=1&offset=1')).map(({ id }) => id)).to.deep.equal([made.id]);
    const collision = await service.owner('PUT', `/api/admin/permissions/${other.id}`, { schema_name: 'post' });
    expect(statusAndError(collision)).to.deep.equal([409, 'a rule for that role and schema already exists']);
    for (const { id } of [made, other])
      expect((await service.owner('DELETE', `/api/admin/permissions/${id}`)).status).to.equal(204);
    expect(await list('?role=author')).to.deep.equal([]);
    expect(statusAndError(await service.owner('DELETE', `/api/admin/permissions/${made.id}`))).to.deep.equal([
      404,
      'access rule not found',
    ]);
    for (const id of [made.id, 'x'])
      expect(
        statusAndError(await service.owner('PUT', `/api/admin/permissions/${id}`, { role: 7 })),
        'before the body',
      ).to.deep.equal([404, 'access rule not found']);
  });

  it('are refused with every invalid field named', async () => {
    const reply = await service.owner('POST', '/api/admin/permissions', {
      role: 'no spaces',
      schema_name: 'Post',
      actions: ['fly'],
      field_mask: ['A'],
    });
    expect(statusAndError(reply)).to.deep.equal([422, 'validation failed']);
    expect(reply.json<{ fields: { field: string }[] }>().fields.map(({ field }) => field)).to.deep.equal([
      'role',
      'schema_name',
      'actions',
      'field_mask',
    ]);
    for (const body of [
      {},
      { role: 'a', schema_name: 'b' },
      { role: 'a', schema_name: 'b', actions: 'read' },
      { role: 'a', schema_name: 'b', actions: [], more: 1 },
      [],
    ]) {
      expect(
        statusAndError(await service.owner('POST', '/api/admin/permissions', body)),
        JSON.stringify(body),
      ).to.deep.equal([422, 'validation failed']);
    }
  });

  it('can be managed by admins and super admins with a session only', async () => {
    const [manager, editor] = [await person(['admin']), await person(['editor'])];
    expect((await manager.admin('GET', '/api/admin/permissions')).status).to.equal(200);
    expect(
      (await manager.admin('POST', '/api/admin/permissions', { role: 'a', schema_name: 'b', actions: [] })).status,
    ).to.equal(200);
    expect(statusAndError(await editor.admin('GET', '/api/admin/permissions'))).to.deep.equal([
      403,
      'insufficient permissions',
    ]);
  });

  it('belong to one tenant', async () => {
    await service.owner('POST', '/api/admin/tenants', { slug: 'acme' });
    const there = { 'x-tenant-id': 'acme' };
    const [first] = (await service.owner('GET', '/api/admin/permissions', undefined, there)).json<Rule[]>();
    expect(first).to.deep.include({ role: 'editor', schema_name: '*', actions: ['*'] });
    for (const method of ['PUT', 'DELETE'])
      expect(
        statusAndError(
          await service.owner(method, `/api/admin/permissions/${first!.id}`, method === 'PUT' ? {} : undefined),
        ),
      ).to.deep.equal([404, 'access rule not found']);
    expect((await service.owner('DELETE', `/api/admin/permissions/${first!.id}`, undefined, there)).status).to.equal(
      204,
    );
    expect(
      (await service.owner('GET', '/api/admin/permissions', undefined, there)).json(),
      'deleted permanently',
    ).to.deep.equal([]);
    expect(await list('?role=editor')).to.have.length(1);
  });
});

describe('access rules on the Content API', () => {
  const { service, rule, person } = useRules();
  let entry: Entry;
  const at = (path = '') => `/api/v1/content/article/${entry.id}${path}`;
  before(async () => {
    for (const name of ['article', 'page']) {
      const made = await service.owner('POST', '/api/admin/schemas', {
        name,
        with_draft_publish: true,
        fields: [
          { name: 'title', field_type: 'text' },
          { name: 'secret', field_type: 'text' },
        ],
      });
      expect(made.status, made.text).to.be.oneOf([200, 201]);
    }
    entry = (
      await service.ownerContent('POST', '/api/v1/content/article', { data: { title: 'one', secret: 'first' } })
    ).json<Entry>();
    await service.ownerContent('PUT', at(), { data: { secret: 'second' } });
    await service.ownerContent('PUT', at(), { data: { title: 'two', secret: 'third' } });
    await service.ownerContent('PUT', at('/publish'));
  });

  it('grant and revoke access to a content type as soon as the write is acknowledged', async () => {
    const reader = await person(['reader']);
    const reads = async () => [
      (await reader.content('GET', '/api/v1/content/article')).status,
      (await reader.content('GET', at())).status,
      (await reader.content('GET', at('/revisions'))).status,
    ];
    expect(statusAndError(await reader.content('GET', '/api/v1/content/article'))).to.deep.equal(DENIED);
    expect(await reads()).to.deep.equal([403, 403, 403]);
    for (let round = 0; round < 5; round += 1) {
      const { id } = await rule({ role: 'reader', schema_name: 'article', actions: ['read'] });
      expect(await reads()).to.deep.equal([200, 200, 200]);
      expect(statusAndError(await reader.content('GET', '/api/v1/content/page'))).to.deep.equal(DENIED);
      expect((await service.owner('PUT', `/api/admin/permissions/${id}`, { actions: ['create'] })).status).to.equal(
        200,
      );
      expect(await reads()).to.deep.equal([403, 403, 403]);
      expect((await service.owner('DELETE', `/api/admin/permissions/${id}`)).status).to.equal(204);
    }
  });

  it('hide masked fields from entries, filters, sorting, field selection, revisions and diffs', async () => {
    const reader = await person(['masked']);
    await rule({ role: 'masked', schema_name: 'article', actions: ['read'], field_mask: ['secret'] });
    const get = async (path: string) => {
      const reply = await reader.content('GET', path);
      expect(reply.status, `${path}: ${reply.text}`).to.equal(200);
      expect(reply.text, path).to.not.match(/secret|first|second|third/);
      return reply;
    };
    expect((await get(at())).json<Entry>().data).to.deep.equal({ title: 'two' });
    expect((await get('/api/v1/content/article')).json<Entry[]>().map(({ data }) => data)).to.deep.equal([
      { title: 'two' },
    ]);
    expect(
      (await get('/api/v1/content/article/cursor')).json<{ data: Entry[] }>().data.map(({ data }) => data),
    ).to.deep.equal([{ title: 'two' }]);
    await get('/api/v1/content/article?filters[title]=two&sort=-title&fields=title');
    for (const [query, name] of [
      ['filters[secret]=third', 'filters[secret]'],
      ['filters[secret][$startsWith]=t', 'filters[secret]'],
      ['sort=secret', 'sort'],
      ['sort=-secret', 'sort'],
      ['fields=secret', 'fields'],
    ] as const) {
      for (const path of ['/api/v1/content/article', '/api/v1/content/article/cursor']) {
        const reply = await reader.content('GET', `${path}?${query}`);
        expect(reply.status, `${path}?${query}: ${reply.text}`).to.equal(400);
        expect(reply.json<{ error: string }>().error).to.contain(`invalid query parameter: ${name}`);
      }
    }
    const revisions = (await get(at('/revisions'))).json<{ id: string; version: number; changed: string[] }[]>();
    expect(revisions.map(({ changed }) => changed.filter((name) => name === 'secret')).flat()).to.deep.equal([]);
    for (const { id } of revisions) await get(at(`/revisions/${id}`));
    await get(at('/revisions/1/diff/3'));
    expect((await get(at(`?as_of=${new Date().toISOString()}`))).json<Entry>().data).to.deep.equal({ title: 'two' });
    expect((await service.ownerContent('GET', at())).json<Entry>().data, 'for those who see it all').to.deep.equal({
      title: 'two',
      secret: 'third',
    });
  });

  it('restrict what an editor may write, by action and by field, and mask the response', async () => {
    const editor = await person(['editor']);
    const own = await rule({
      role: 'editor',
      schema_name: 'article',
      actions: ['read', 'create', 'update'],
      field_mask: ['secret'],
    });
    const created = await editor.content('POST', '/api/v1/content/article', { data: { title: 'mine' } });
    expect([created.status, created.json<Entry>().data]).to.deep.equal([201, { title: 'mine' }]);
    for (const [method, path, body] of [
      ['POST', '/api/v1/content/article', { data: { title: 'x', secret: 'x' } }],
      ['PUT', at(), { data: { secret: 'x' } }],
      ['PUT', at(), { data: { secret: null } }],
      ['POST', '/api/v1/content/article/bulk', { entries: [{ data: { title: 'x' } }, { data: { secret: 'x' } }] }],
      ['DELETE', at(), undefined],
      ['PUT', at('/unpublish'), undefined],
      ['PUT', at('/publish'), undefined],
    ] as const) {
      expect(statusAndError(await editor.content(method, path, body)), `${method} ${path}`).to.deep.equal(DENIED);
    }
    const updated = await editor.content('PUT', at(), { data: { title: 'three' } });
    expect([updated.status, updated.json<Entry>().data]).to.deep.equal([200, { title: 'three' }]);
    const restored = await editor.content('PUT', at('/revisions/1/restore'));
    expect([restored.status, restored.json<Entry>().data]).to.deep.equal([200, { title: 'one' }]);
    expect(
      (await service.ownerContent('GET', at())).json<Entry>().data,
      'a restore leaves alone what its author may not write',
    ).to.deep.equal({ title: 'one', secret: 'third' });
    const bulk = await editor.content('POST', '/api/v1/content/article/bulk', { entries: [{ data: { title: 'b' } }] });
    expect([bulk.status, bulk.text.includes('secret')]).to.deep.equal([201, false]);
    expect(
      (await editor.content('POST', '/api/v1/content/page', { data: { secret: 'x' } })).status,
      'the * rule holds elsewhere',
    ).to.equal(201);
    await service.owner('DELETE', `/api/admin/permissions/${own.id}`);
    expect((await editor.content('PUT', at(), { data: { secret: 'x' } })).status, 'and here again').to.equal(200);
  });

  it('add up over several roles: a field is masked only if the rules of all roles mask it', async () => {
    await rule({ role: 'one', schema_name: '*', actions: ['read'], field_mask: ['title', 'secret'] });
    await rule({ role: 'two', schema_name: 'article', actions: ['read', 'update'], field_mask: ['secret'] });
    const data = async (roles: readonly string[]) =>
      Object.keys((await (await person(roles)).content('GET', at())).json<Entry>().data);
    expect([await data(['one']), await data(['two']), await data(['one', 'two'])]).to.deep.equal([
      [],
      ['title'],
      ['title'],
    ]);
    const writer = await person(['two', 'editor']);
    const { id } = await rule({ role: 'editor', schema_name: 'article', actions: [] });
    expect((await writer.content('PUT', at(), { data: { title: 'by two' } })).status).to.equal(200);
    expect(statusAndError(await writer.content('DELETE', at()))).to.deep.equal(DENIED);
    expect(
      statusAndError(await (await person(['two'])).content('PUT', at(), { data: { title: 'x' } })),
      'a custom role alone',
    ).to.deep.equal([403, 'insufficient permissions']);
    await service.owner('DELETE', `/api/admin/permissions/${id}`);
  });

  it('apply to API keys, checked in the order scope, role, rule', async () => {
    const [silent, reader, writer] = [
      await service.key({ roles: [], scopes: ['*:*'] }),
      await service.key({ roles: ['reader2'], scopes: ['content:read'] }),
      await service.key({ roles: ['editor'], scopes: ['*:*'] }),
    ];
    expect(statusAndError(await silent('GET', '/api/v1/content/article'))).to.deep.equal(DENIED);
    expect(statusAndError(await silent('GET', at()))).to.deep.equal(DENIED);
    expect((await silent('GET', '/api/v1/schemas')).json(), 'a key without a role sees nothing').to.deep.equal([]);
    expect(statusAndError(await silent('GET', '/api/v1/schemas/article'))).to.deep.equal(DENIED);
    expect(statusAndError(await silent('POST', '/api/v1/content/article', { data: {} }))).to.deep.equal([
      403,
      'insufficient permissions',
    ]);
    expect(statusAndError(await reader('POST', '/api/v1/content/article', { data: {} }))).to.deep.equal([
      403,
      'insufficient scope',
    ]);
    expect(statusAndError(await reader('GET', at()))).to.deep.equal(DENIED);
    const { id } = await rule({ role: 'editor', schema_name: 'page', actions: ['read'] });
    expect(statusAndError(await writer('POST', '/api/v1/content/page', { data: { title: 'x' } }))).to.deep.equal(
      DENIED,
    );
    await service.owner('DELETE', `/api/admin/permissions/${id}`);
    expect((await writer('POST', '/api/v1/content/page', { data: { title: 'x' } })).status).to.equal(201);
  });

  it('determine which content types a caller can list, and with which fields', async () => {
    await rule({ role: 'viewer', schema_name: 'article', actions: ['read'], field_mask: ['secret'] });
    await rule({ role: 'viewer', schema_name: 'page', actions: ['create'] });
    const viewer = await person(['viewer']);
    const types = (await viewer.content('GET', '/api/v1/schemas')).json<
      { name: string; fields: { name: string }[] }[]
    >();
    expect(types.map(({ name, fields }) => [name, fields.map((field) => field.name)])).to.deep.equal([
      ['article', ['title']],
    ]);
    expect((await viewer.content('GET', '/api/v1/schemas/article')).json<{ fields: object[] }>().fields).to.have.length(
      1,
    );
    expect(statusAndError(await viewer.content('GET', '/api/v1/schemas/page'))).to.deep.equal(DENIED);
    expect((await service.ownerContent('GET', '/api/v1/schemas')).json<object[]>()).to.have.length(2);
  });

  it('hide masked fields from search, changes, blame, related entries and the admin console', async () => {
    await service.owner('POST', '/api/admin/schemas', {
      name: 'comment',
      fields: [
        { name: 'text', field_type: 'text' },
        { name: 'article', field_type: 'relation', relation_type: 'belongs_to', relation_to: 'article' },
      ],
    });
    const target = (
      await service.ownerContent('POST', '/api/v1/content/article', {
        data: { title: 'visible', secret: 'hiddenword' },
      })
    ).json<Entry>();
    await service.ownerContent('PUT', `/api/v1/content/article/${target.id}/publish`);
    const { id } = (
      await service.ownerContent('POST', '/api/v1/content/comment', {
        data: { text: 'a comment', article_id: target.id },
      })
    ).json<Entry>();
    await rule({ role: 'narrow', schema_name: 'article', actions: ['read'], field_mask: ['secret'] });
    await rule({ role: 'narrow', schema_name: 'comment', actions: ['read'] });
    const [narrow, stranger] = [await person(['narrow']), await person(['stranger'])];
    const get = async (path: string, call = narrow.content) => {
      const reply = await call('GET', path);
      expect(reply.status, `${path}: ${reply.text}`).to.equal(200);
      expect(reply.text, path).to.not.match(/secret|hiddenword/);
      return reply;
    };
    expect((await get('/api/v1/content/article?q=hiddenword')).json()).to.deep.equal([]);
    expect((await get('/api/v1/content/article?q=visible')).json()).to.have.length(1);
    expect((await service.ownerContent('GET', '/api/v1/content/article?q=hiddenword')).json()).to.have.length(1);
    expect((await get('/api/v1/content/article/changes')).text).to.contain('visible');
    await get(`/api/v1/content/article/${target.id}/blame`);
    expect((await get(`/api/v1/content/comment/${id}?populate=article`)).text).to.contain('visible');
    expect((await get('/api/v1/content/comment?populate=*')).text).to.contain('visible');
    expect((await get(`/api/v1/content/comment/${id}/relations/article`)).text).to.contain('visible');
    await get(`/api/admin/content/${target.id}`, narrow.admin);
    await get('/api/admin/content?q=hiddenword', narrow.admin);
    for (const path of ['/api/v1/content/article/changes', `/api/v1/content/article/${target.id}/blame`])
      expect(statusAndError(await stranger.content('GET', path)), path).to.deep.equal(DENIED);
    await rule({ role: 'blind', schema_name: 'comment', actions: ['read'] });
    const blind = (
      await (await person(['blind'])).content('GET', `/api/v1/content/comment/${id}?populate=article`)
    ).json<Entry>();
    expect(blind.data, 'without a rule for the related type the relation stays an id').to.deep.equal({
      text: 'a comment',
      article_id: target.id,
    });
  });

  it('still apply after a content type is renamed, and so do the content types of API keys', async () => {
    await service.owner('POST', '/api/admin/schemas', {
      name: 'before',
      fields: [
        { name: 'title', field_type: 'text' },
        { name: 'secret', field_type: 'text' },
      ],
    });
    const made = await rule({ role: 'mover', schema_name: 'before', actions: ['read'], field_mask: ['secret'] });
    const key = (
      await service.owner('POST', '/api/admin/api-keys', {
        name: 'held',
        roles: ['mover'],
        scopes: ['*:*'],
        schemas: ['before', 'page'],
      })
    ).json<{ id: string; raw_key: string }>();
    const read = (name: string) =>
      service.content('GET', `/api/v1/content/${name}`, undefined, { 'x-api-key': key.raw_key });
    expect((await read('before')).status).to.equal(200);
    const renamed = await service.owner('PUT', '/api/admin/schemas/before/rename', { new_name: 'after' });
    expect(renamed.status, renamed.text).to.equal(200);
    expect((await read('after')).status).to.equal(200);
    expect(statusAndError(await read('before'))).to.deep.equal([403, 'schema not allowed for this credential']);
    const [moved, ...others] = (await service.owner('GET', '/api/admin/permissions?role=mover')).json<Rule[]>();
    expect([moved, others]).to.deep.equal([{ ...made, schema_name: 'after', updated_at: moved!.updated_at }, []]);
    const keys = (await service.owner('GET', '/api/admin/api-keys')).json<{ id: string; schemas: string[] }[]>();
    expect(keys.find(({ id }) => id === key.id)?.schemas).to.deep.equal(['after', 'page']);
  });

  it('deny editors everything and allow admins everything when all rules are deleted', async () => {
    const [editor, manager] = [await person(['editor']), await person(['admin'])];
    for (const { id } of (await service.owner('GET', '/api/admin/permissions?role=editor')).json<Rule[]>())
      await service.owner('DELETE', `/api/admin/permissions/${id}`);
    expect(statusAndError(await editor.content('GET', '/api/v1/content/page'))).to.deep.equal(DENIED);
    expect(statusAndError(await editor.content('POST', '/api/v1/content/page', { data: {} }))).to.deep.equal(DENIED);
    expect((await manager.content('POST', '/api/v1/content/page', { data: { title: 'x' } })).status).to.equal(201);
  });
});
