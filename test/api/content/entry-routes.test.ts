import { expect } from 'chai';
import { Agent } from 'undici';
import { entryRoutes } from '../../../api/content/entry-routes.ts';
import type { Principal } from '../../../domain/identity/principal.ts';
import { useContent } from '../../support/content.ts';
import { caller, resultOf, statusAndError } from '../../support/http.ts';
import { type EntryAnswer as Entry, apiKey, useServedContent } from '../../support/serve-content.ts';

const PRINCIPALS: Readonly<Record<string, Principal>> = {
  writer: apiKey(),
  other: apiKey({ keyId: 'k2', tenant: 'acme' }),
  roleless: apiKey({ roles: [] }),
  custom: apiKey({ roles: ['visitor'] }),
  listed: apiKey({ schemas: ['note'] }),
};

describe('entries over HTTP', () => {
  const content = useContent();
  const agent = new Agent({ connections: 64 });
  const served = useServedContent({
    content,
    routes: () => entryRoutes(content.dependencies()),
    principals: PRINCIPALS,
  });
  const as = (name: string) => caller(() => served().content.url, name === '' ? {} : { 'x-api-key': name }, agent);
  const call = as('writer');

  before(async () => {
    await content.save({
      name: 'article',
      with_draft_publish: true,
      fields: [
        { name: 'title', field_type: 'text', required: true },
        { name: 'code', field_type: 'slug', unique: true },
        { name: 'views', field_type: 'integer', default: 0, indexed: true },
        { name: 'price', field_type: 'decimal' },
        { name: 'rating', field_type: 'number' },
        { name: 'at', field_type: 'datetime' },
        { name: 'day', field_type: 'date' },
        { name: 'hour', field_type: 'time' },
        { name: 'tags', field_type: 'json' },
        { name: 'hot', field_type: 'boolean' },
        { name: 'author', field_type: 'relation', relation_type: 'belongs_to', relation_to: 'note' },
      ],
    });
    await content.save({ name: 'note', fields: [{ name: 'text', field_type: 'text' }] });
    await content.save({ name: 'readonly', transports: { rest: 'r' }, fields: [] });
    await content.save({ name: 'inbox', transports: { rest: 'w' }, fields: [] });
    await content.save({ name: 'hidden', transports: { rest: 'off' }, fields: [] });
    await content.save({ name: 'article', fields: [{ name: 'title', field_type: 'text' }] }, 'acme');
  });
  after(() => agent.close());

  async function create(data: Record<string, unknown>, schema = 'article'): Promise<Entry> {
    return resultOf<Entry>(await call('POST', `/api/v1/content/${schema}`, { data }), 201);
  }

  it('creates a draft and returns exactly the JSON that a read returns', async () => {
    const note = await create({ text: 'n' }, 'note');
    const data = {
      title: 'Say "hi"\n\u2028 😀',
      code: 'one',
      views: 3,
      price: '1.50',
      rating: 0.1,
      at: '2026-01-01T01:00:00+01:00',
      day: '2026-02-03',
      hour: '10:30',
      tags: { a: [1, null] },
      hot: true,
      author: note.id,
    };
    const created = await call('POST', '/api/v1/content/article', { data });
    expect(created.status).to.equal(201);
    expect(created.headers).to.include.keys('x-commit-position');
    const entry = created.json<Entry>();
    expect(entry).to.have.all.keys(
      'id',
      'schema_name',
      'status',
      'data',
      'version',
      'created_at',
      'updated_at',
      'published_at',
      'created_by',
      'updated_by',
    );
    const { author: _, ...plain } = data;
    expect(entry.data).to.deep.equal({
      ...plain,
      at: '2026-01-01T00:00:00.000Z',
      hour: '10:30:00',
      author_id: note.id,
    });
    expect(entry).to.deep.include({
      schema_name: 'article',
      status: 'draft',
      version: 1,
      published_at: null,
      created_by: { kind: 'api_key', id: 'k1' },
    });
    const read = await call('GET', `/api/v1/content/article/${entry.id}`);
    expect(read.json()).to.deep.equal(entry);
    expect(Object.keys(read.json())).to.deep.equal(Object.keys(entry));
    expect(read.headers['etag']).to.equal('"1"');
  });

  it('leaves out status and published_at in a type without drafts', async () => {
    const note = await create({}, 'note');
    expect(note).to.not.have.any.keys('status', 'published_at', 'slug');
    expect(note.data).to.deep.equal({ text: null });
    expect((await call('GET', `/api/v1/content/note/${note.id}`)).json()).to.deep.equal(note);
  });

  it('updates the fields in the body, and appends no event when nothing changes', async () => {
    const entry = await create({ title: 'a' });
    const updated = (await call('PUT', `/api/v1/content/article/${entry.id}`, { data: { title: 'b' } })).json<Entry>();
    expect([updated.version, updated.data['title'], updated.data['views']]).to.deep.equal([2, 'b', 0]);
    const same = await call('PUT', `/api/v1/content/article/${entry.id}`, { data: { title: 'b', views: 0 } });
    expect([same.status, same.json<Entry>().version, same.headers['etag']]).to.deep.equal([200, 2, '"2"']);
    expect((await call('GET', `/api/v1/content/article/${entry.id}`)).json()).to.deep.equal(updated);
    const refused = await call('PUT', `/api/v1/content/article/${entry.id}`, { data: { title: '', nope: 1 } });
    expect(refused.status).to.equal(422);
    expect(refused.json()).to.deep.include({
      error: 'validation failed',
      fields: [
        { field: 'title', message: 'is required' },
        { field: 'nope', message: 'unknown field' },
      ],
    });
  });

  it('honours If-Match on delete and publish, and If-None-Match on reads', async () => {
    const entry = await create({ title: 'a' });
    const path = `/api/v1/content/article/${entry.id}`;
    expect((await call('PUT', `${path}/publish`, undefined, { 'if-match': '"7"' })).status).to.equal(412);
    expect((await call('DELETE', path, undefined, { 'if-match': 'W/"9", nonsense' })).status).to.equal(412);
    expect((await call('GET', path, undefined, { 'if-none-match': '"1"' })).status).to.equal(304);
    expect((await call('GET', path, undefined, { 'if-none-match': '"2"' })).status).to.equal(200);
    expect((await call('DELETE', path, undefined, { 'if-match': '"1"' })).status).to.equal(204);
  });

  it('publishes and unpublishes, and leaves drafts out of lists unless a filter names the status', async () => {
    const entry = await create({ title: 'statusful', code: 'statusful' });
    const path = `/api/v1/content/article/${entry.id}`;
    const listed = async (query = '') =>
      (await call('GET', `/api/v1/content/article?filters[code]=statusful${query}`))
        .json<Entry[]>()
        .map(({ id }) => id);
    expect(await listed()).to.deep.equal([]);
    expect(await listed('&filters[_status]=draft')).to.deep.equal([entry.id]);
    expect(statusAndError(await call('PUT', `${path}/unpublish`))).to.deep.equal([409, 'invalid status transition']);
    const published = (await call('PUT', `${path}/publish`)).json<Entry>();
    expect(published).to.include({ status: 'published', version: 2 });
    expect(published['published_at']).to.be.a('string');
    expect(await listed()).to.deep.equal([entry.id]);
    expect((await call('PUT', `${path}/publish`)).status).to.equal(409);
    expect((await call('PUT', `${path}/unpublish`)).json<Entry>()).to.include({
      status: 'draft',
      published_at: null,
      version: 3,
    });
  });

  it('answers 404 for a deleted entry and its revisions', async () => {
    const entry = await create({ title: 'gone' });
    const path = `/api/v1/content/article/${entry.id}`;
    expect((await call('DELETE', path)).status).to.equal(204);
    for (const [method, rest] of [
      ['GET', ''],
      ['DELETE', ''],
      ['PUT', '/publish'],
      ['GET', '/revisions'],
      ['GET', '/revisions/1'],
      ['PUT', '/revisions/1/restore'],
    ] as const) {
      expect(statusAndError(await call(method, path + rest)), method + rest).to.deep.equal([404, 'content not found']);
    }
  });

  it('allows a unique value in one entry at a time, and frees it with the entry', async () => {
    const first = await create({ title: 'a', code: 'taken' });
    const refused = await call('POST', '/api/v1/content/article', { data: { title: 'b', code: 'taken' } });
    expect(refused.status).to.equal(409);
    expect(refused.json()).to.deep.include({
      error: 'unique value already held',
      fields: [{ field: 'code', message: 'unique value already held' }],
    });
    const second = await create({ title: 'b' });
    expect((await call('PUT', `/api/v1/content/article/${second.id}`, { data: { code: 'taken' } })).status).to.equal(
      409,
    );
    await call('PUT', `/api/v1/content/article/${first.id}`, { data: { code: 'moved' } });
    expect((await call('PUT', `/api/v1/content/article/${second.id}`, { data: { code: 'taken' } })).status).to.equal(
      200,
    );
    await call('DELETE', `/api/v1/content/article/${second.id}`);
    await create({ title: 'c', code: 'taken' });
    await create({ title: 'd', code: null });
    await create({ title: 'e', code: null });
    const race = await Promise.all(
      Array.from({ length: 20 }, () =>
        call('POST', '/api/v1/content/article', { data: { title: 'r', code: 'raced' } }),
      ),
    );
    expect(race.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([
      201,
      ...Array<number>(19).fill(409),
    ]);
  });

  it('refuses a belongs_to relation to an entry that does not exist', async () => {
    const missing = '0190b3a8-0000-7000-8000-00000000dead';
    expect(
      statusAndError(await call('POST', '/api/v1/content/article', { data: { title: 'a', author_id: missing } })),
    ).to.deep.equal([422, `related entry not found: ${missing}`]);
    const article = await create({ title: 'not a note' });
    expect(
      (await call('POST', '/api/v1/content/article', { data: { title: 'a', author_id: article.id } })).status,
    ).to.equal(422);
  });

  it('creates all entries of a bulk request, or none if one is refused', async () => {
    const post = (entries: unknown) => call('POST', '/api/v1/content/article/bulk', { entries });
    const made = await post([{ data: { title: 'x', code: 'bulk-1' } }, { data: { title: 'y' } }]);
    expect(made.status).to.equal(201);
    expect(made.json<{ created: number; data: Entry[] }>()).to.include({ created: 2 });
    expect(made.json<{ data: Entry[] }>().data.map(({ data }) => data['title'])).to.deep.equal(['x', 'y']);
    const before = (await content.log()).length;
    const refused = await post([{ data: { title: 'z', code: 'bulk-1' } }, { data: { title: '' } }, { data: {} }]);
    expect(refused.json()).to.deep.include({
      error: 'validation failed',
      errors: [
        { index: 1, field: 'title', message: 'is required' },
        { index: 2, field: 'title', message: 'is required' },
      ],
    });
    expect(refused.status).to.equal(422);
    const held = await post([
      { data: { title: 'z', code: 'bulk-2' } },
      { data: { title: 'z', code: 'bulk-1' } },
      { data: { title: 'z', code: 'bulk-2' } },
    ]);
    expect([held.status, held.json()['error'], held.json()['errors']]).to.deep.equal([
      409,
      'validation failed',
      [1, 2].map((index) => ({ index, field: 'code', message: 'unique value already held' })),
    ]);
    expect((await content.log()).length).to.equal(before);
    await create({ title: 'free again', code: 'bulk-2' });
    for (const entries of [[], Array(1001).fill({ data: { title: 'x' } })])
      expect(statusAndError(await post(entries))).to.deep.equal([422, 'entries must hold 1 to 1000 items']);
    expect((await post([{ nope: 1 }])).status).to.equal(422);
    expect((await post('x')).status).to.equal(422);
  });

  it('lists revisions newest first, returns one, and compares two', async () => {
    const entry = await create({ title: 'a' });
    const path = `/api/v1/content/article/${entry.id}`;
    await call('PUT', path, { data: { title: 'b', views: 2 } });
    await call('PUT', `${path}/publish`);
    const list = await call('GET', `${path}/revisions?count=true`);
    const revisions = list.json<{ id: string; version: number; action: string; changed: string[] }[]>();
    expect(revisions.map(({ version, action, changed }) => [version, action, changed])).to.deep.equal([
      [3, 'publish', []],
      [2, 'update', ['title', 'views']],
      [1, 'create', ['title', 'views']],
    ]);
    expect(Object.keys(revisions[0]!)).to.deep.equal(['id', 'version', 'action', 'actor', 'created_at', 'changed']);
    expect(list.headers['x-total-count']).to.equal('3');
    expect(
      (await call('GET', `${path}/revisions?limit=1&offset=1`))
        .json<{ version: number }[]>()
        .map(({ version }) => version),
    ).to.deep.equal([2]);
    const one = (await call('GET', `${path}/revisions/${revisions[2]!.id}`)).json<{ data: Record<string, unknown> }>();
    expect([one.data['title'], one.data['views'], one.data['price']]).to.deep.equal(['a', 0, null]);
    expect((await call('GET', `${path}/revisions/1`)).json()).to.deep.equal(one);
    expect((await call('GET', `${path}/revisions/1/diff/3`)).json()).to.deep.equal({
      changes: [
        { field: 'title', from: 'a', to: 'b' },
        { field: 'views', from: 0, to: 2 },
      ],
    });
    for (const revision of ['9', 'x', '0', entry.id])
      expect(statusAndError(await call('GET', `${path}/revisions/${revision}`))).to.deep.equal([
        404,
        'revision not found',
      ]);
  });

  it('restores a revision as a new revision', async () => {
    const entry = await create({ title: 'a', code: 'restored' });
    const path = `/api/v1/content/article/${entry.id}`;
    await call('PUT', path, { data: { title: 'b', code: null, views: 5 } });
    const restored = (await call('PUT', `${path}/revisions/1/restore`)).json<Entry>();
    expect([restored.version, restored.data['title'], restored.data['code'], restored.data['views']]).to.deep.equal([
      3,
      'a',
      'restored',
      0,
    ]);
    expect((await call('GET', path)).json()).to.deep.equal(restored);
    expect((await call('GET', `${path}/revisions/3`)).json()).to.include({ action: 'restore' });
    await call('PUT', path, { data: { code: null } });
    await create({ title: 'thief', code: 'restored' });
    expect((await call('PUT', `${path}/revisions/1/restore`)).status).to.equal(409);
    expect((await call('PUT', `${path}/revisions/99/restore`)).status).to.equal(404);
  });

  it('returns an entry as it was at a point in time', async () => {
    const entry = await create({ title: 'a' });
    const path = `/api/v1/content/article/${entry.id}`;
    const second = (await call('PUT', path, { data: { title: 'b' } })).json<Entry>();
    const at = async (moment: string) => call('GET', `${path}?as_of=${encodeURIComponent(moment)}`);
    expect((await at(String(entry['created_at']))).json<Entry>().version).to.be.oneOf([1, 2]);
    expect((await at(String(second['updated_at']))).json()).to.deep.equal(second);
    expect(statusAndError(await at('2020-01-01T00:00:00Z'))).to.deep.equal([404, 'content not found']);
    for (const bad of ['2999-01-01T00:00:00Z', 'yesterday', ''])
      expect(statusAndError(await at(bad))).to.deep.equal([400, 'invalid query parameter: as_of']);
  });

  it("checks in this order: the key's types, role, content type, transport, access rule, entry", async () => {
    const path = '/api/v1/content/article';
    expect(statusAndError(await as('listed')('GET', path))).to.deep.equal([
      403,
      'schema not allowed for this credential',
    ]);
    expect(statusAndError(await as('listed')('POST', '/api/v1/content/nope', {}))).to.deep.equal([
      403,
      'schema not allowed for this credential',
    ]);
    expect(statusAndError(await as('roleless')('POST', '/api/v1/content/nope', {}))).to.deep.equal([
      403,
      'insufficient permissions',
    ]);
    expect(statusAndError(await as('custom')('GET', path))).to.deep.equal([403, 'permission denied']);
    expect(statusAndError(await as('roleless')('GET', path))).to.deep.equal([403, 'permission denied']);
    expect(statusAndError(await call('POST', '/api/v1/content/nope', 'not json'))).to.deep.equal([
      404,
      'schema not found',
    ]);
    expect(statusAndError(await call('GET', '/api/v1/content/hidden'))).to.deep.equal([404, 'schema not found']);
    expect(statusAndError(await call('POST', '/api/v1/content/readonly', { data: {} }))).to.deep.equal([
      405,
      'schema is read-only over this transport',
    ]);
    expect(statusAndError(await call('GET', '/api/v1/content/inbox'))).to.deep.equal([
      405,
      'schema is write-only over this transport',
    ]);
    expect((await call('POST', '/api/v1/content/inbox', { data: {} })).status).to.equal(201);
    for (const id of ['x', '0190b3a8-0000-7000-8000-00000000dead', "1'--"])
      expect(statusAndError(await call('GET', `${path}/${encodeURIComponent(id)}`))).to.deep.equal([
        404,
        'content not found',
      ]);
  });

  it('keeps the entries of tenants apart in a shared table', async () => {
    const mine = await create({ title: 'mine' });
    for (const [method, rest, body] of [
      ['GET', '', undefined],
      ['PUT', '', { data: { title: 'x' } }],
      ['DELETE', '', undefined],
      ['GET', '/revisions', undefined],
    ] as const) {
      expect((await as('other')(method, `/api/v1/content/article/${mine.id}${rest}`, body)).status, method).to.equal(
        404,
      );
    }
    expect((await as('other')('GET', '/api/v1/content/article')).json()).to.deep.equal([]);
  });

  it('refuses bodies that are not {data: {…}}', async () => {
    const path = '/api/v1/content/article';
    for (const body of [{}, { data: 1 }, { data: [] }, { data: { title: 'x' }, status: 'published' }, []])
      expect((await call('POST', path, body)).status, JSON.stringify(body)).to.equal(422);
    expect(statusAndError(await call('POST', path, '{', { 'content-type': 'application/json' }))).to.deep.equal([
      400,
      'invalid JSON body',
    ]);
  });

  it('repeats the first response for a repeated idempotency key', async () => {
    const body = { data: { title: 'once' } };
    const first = await call('POST', '/api/v1/content/article', body, { 'idempotency-key': 'abc' });
    const again = await call('POST', '/api/v1/content/article', body, { 'idempotency-key': 'abc' });
    expect(again.json<Entry>().id).to.equal(first.json<Entry>().id);
  });
});
