import { expect } from 'chai';
import type { Json } from '../../domain/json.ts';
import { type Call, type Reply, resultOf, statusAndError } from '../support/http.ts';
import { useService } from '../support/service.ts';
import { type WebhookReceiver, startReceiver } from '../support/webhook-receiver.ts';

type Entry = {
  readonly id: string;
  readonly version: number;
  readonly updated_at: string;
  readonly data: Readonly<Record<string, Json>>;
};

const relation = (name: string, relation_to: string, relation_type: string, more: object = {}) => ({
  name,
  field_type: 'relation',
  relation_to,
  relation_type,
  ...more,
});
const name = { name: 'name', field_type: 'text' };

describe('relations between entries', function () {
  this.timeout(30_000);
  const service = useService();
  let key: Call;
  let receiver: WebhookReceiver;

  async function save(definition: object): Promise<void> {
    const reply = await service.owner('POST', '/api/admin/schemas', definition);
    expect(reply.status, reply.text).to.equal(200);
  }
  before(async () => {
    await save({ name: 'author', with_soft_delete: true, fields: [name, { name: 'email', field_type: 'email' }] });
    await save({ name: 'tag', fields: [name] });
    await save({
      name: 'article',
      with_draft_publish: true,
      fields: [name, relation('author', 'author', 'belongs_to'), relation('tags', 'tag', 'many_to_many')],
    });
    await save({ name: 'book', fields: [name, relation('author', 'author', 'belongs_to', { required: true })] });
    expect(
      (
        await service.owner('PUT', '/api/admin/schemas/author', {
          with_soft_delete: true,
          fields: [name, { name: 'email', field_type: 'email' }, relation('articles', 'article', 'has_many')],
        })
      ).status,
    ).to.equal(200);
    key = await service.key({});
    receiver = await startReceiver();
  });
  after(() => receiver.close());

  async function create(schema: string, data: object): Promise<Entry> {
    return resultOf<Entry>(await key('POST', `/api/v1/content/${schema}`, { data }), 201);
  }
  async function get<T = Entry>(path: string, by = key): Promise<T> {
    const reply = await by('GET', `/api/v1/content/${path}`);
    expect(reply.status, `${path}: ${reply.text}`).to.equal(200);
    return reply.json<T>();
  }
  const published = async (data: object) =>
    (await key('PUT', `/api/v1/content/article/${(await create('article', data)).id}/publish`)).json<Entry>();
  const remove = (schema: string, id: string) => key('DELETE', `/api/v1/content/${schema}/${id}`);
  const ids = (entries: readonly Entry[]) => entries.map(({ id }) => id);

  it('never name a deleted entry, when entries are deleted while others begin to name them', async () => {
    await Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        const author = await create('author', { name: `author ${n}` });
        // Ids in capital letters name the same entry.
        const data = { name: `${n}`, author: n % 2 === 0 ? author.id : author.id.toUpperCase() };
        const schema = n % 3 === 2 ? 'article' : 'book';
        const link = (): Promise<Reply> =>
          n % 3 === 0
            ? key('POST', '/api/v1/content/book/bulk', { entries: [{ data }] })
            : key('POST', `/api/v1/content/${schema}`, { data });
        const both =
          n % 2 === 0 ? [link(), remove('author', author.id)] : [remove('author', author.id), link()].reverse();
        const [linked, removed] = await Promise.all(both);
        const outcome = `${linked?.text} ${removed?.text}`;
        const isLinked = linked?.status === 201;
        const isRemoved = removed?.status === 204;
        if (schema === 'book') expect(isLinked, outcome).to.equal(!isRemoved);
        else expect(isRemoved, outcome).to.equal(true);
        if (!isLinked || !isRemoved) return;
        const { id } = linked.json<Entry>();
        expect((await get(`article/${id}`)).data['author_id'], outcome).to.equal(null);
      }),
    );
  });

  it('prevent the deletion of an entry if required, and are removed with it if optional; an undelete does not restore links', async () => {
    const author = await create('author', { name: 'a' });
    const book = await create('book', { name: 'b', author: author.id });
    const article = await published({ name: 'x', author: author.id });
    expect(statusAndError(await remove('author', author.id))).to.deep.equal([
      409,
      'entry is referenced by book.author',
    ]);
    expect((await get(`article/${article.id}`)).data['author_id']).to.equal(author.id);
    expect((await remove('book', book.id)).status).to.equal(204);
    expect((await remove('author', author.id)).status).to.equal(204);
    const after = await get(`article/${article.id}?populate=author`);
    expect([after.version, after.data['author_id'], after.data['author']]).to.deep.equal([
      article.version + 1,
      null,
      null,
    ]);
    expect((await key('PUT', `/api/v1/content/author/${author.id}/undelete`)).status).to.equal(200);
    expect((await get(`author/${author.id}?populate=articles`)).data['articles']).to.deep.equal([]);
    expect(
      (
        await get<readonly { readonly action: string; readonly changed: readonly string[] }[]>(
          `article/${article.id}/revisions`,
        )
      )[0],
    ).to.deep.include({ action: 'update', changed: ['author_id'] });
  });

  it('have a history with revisions, diffs and restores', async () => {
    const [a, b] = [await create('tag', { name: 'a' }), await create('tag', { name: 'b' })];
    const article = await published({ name: 'x', tags: [a.id] });
    await key('PUT', `/api/v1/content/article/${article.id}/relations/tags`, { ids: [b.id, a.id] });
    expect((await get<{ changes: unknown }>(`article/${article.id}/revisions/1/diff/3`)).changes).to.deep.equal([
      { field: 'tags', from: [a.id], to: [b.id, a.id] },
    ]);
    const restored = await key('PUT', `/api/v1/content/article/${article.id}/revisions/1/restore`);
    expect([restored.status, restored.json<Entry>().data['tags']]).to.deep.equal([200, [a.id]]);
    expect((await get(`article/${article.id}/revisions/3`)).data['tags']).to.deep.equal([b.id, a.id]);
  });

  it('can be used to filter lists', async () => {
    const [a, b, c] = [
      await create('tag', { name: 'a' }),
      await create('tag', { name: 'b' }),
      await create('tag', { name: 'c' }),
    ];
    const [one, two, none] = [
      await published({ name: 'filtered', tags: [a.id, b.id] }),
      await published({ name: 'filtered', tags: [b.id] }),
      await published({ name: 'filtered' }),
    ];
    const found = async (filter: string) =>
      ids(await get<readonly Entry[]>(`article?sort=created_at&filters[name]=filtered&${filter}`));
    expect(await found(`filters[tags]=${a.id}`)).to.deep.equal([one.id]);
    expect(await found(`filters[tags][$eq]=${b.id}`)).to.deep.equal([one.id, two.id]);
    expect(await found(`filters[tags][$in]=${a.id},${c.id}`)).to.deep.equal([one.id]);
    expect(await found(`filters[tags][$ne]=${a.id}`)).to.deep.equal([two.id, none.id]);
    expect(await found(`filters[tags][$notIn]=${a.id},${c.id}`)).to.deep.equal([two.id, none.id]);
    expect(await found('filters[tags][$null]=true')).to.deep.equal([none.id]);
    expect(await found('filters[tags][$notNull]=true')).to.deep.equal([one.id, two.id]);
    expect(await found(`filters[author]=${a.id}`)).to.deep.equal([]);
    for (const wrong of [
      'filters[tags]=x',
      `filters[tags][$gt]=${a.id}`,
      `filters[tags][$contains]=${a.id}`,
      'sort=tags',
    ])
      expect((await key('GET', `/api/v1/content/article?${wrong}`)).status, wrong).to.equal(400);
    expect(ids(await get<readonly Entry[]>(`tag?fields=name&filters[_id]=${a.id}`))).to.deep.equal([a.id]);
    expect(
      (await get<readonly Entry[]>('author?fields=articles,name&populate=articles&limit=1'))[0]?.data,
    ).to.have.all.keys('name', 'articles');
  });

  it('return related entries without masked fields, and only the id if the caller may not read the type', async () => {
    const author = await create('author', { name: 'Masked', email: 'm@example.org' });
    const tag = await create('tag', { name: 't' });
    const article = await published({ name: 'masked', author: author.id, tags: [tag.id] });
    const rule = (body: object) =>
      service.owner('POST', '/api/admin/permissions', { role: 'visitor', actions: ['read'], ...body });
    expect((await rule({ schema_name: 'article' })).status).to.equal(200);
    const visitor = await service.key({ roles: ['visitor'] });
    expect((await get(`article/${article.id}?populate=*`, visitor)).data).to.deep.equal({
      name: 'masked',
      author_id: author.id,
      tags: [tag.id],
    });
    expect((await rule({ schema_name: 'author', field_mask: ['email'] })).status).to.equal(200);
    const seen = await get(`article/${article.id}?populate=*`, visitor);
    expect(seen.data['author']).to.deep.include({ id: author.id, data: { name: 'Masked' } });
    expect(seen.data['tags']).to.deep.equal([tag.id]);
    expect(statusAndError(await visitor('GET', `/api/v1/content/article/${article.id}/relations/tags`))).to.deep.equal([
      403,
      'permission denied',
    ]);
  });

  it('return the links of a past time', async () => {
    const [a, b] = [await create('tag', { name: 'a' }), await create('tag', { name: 'b' })];
    const article = await published({ name: 'past', tags: [a.id] });
    const changed = (
      await key('PUT', `/api/v1/content/article/${article.id}`, { data: { tags: [b.id] } })
    ).json<Entry>();
    const as_of = encodeURIComponent(article.updated_at);
    expect(changed.data['tags']).to.deep.equal([b.id]);
    // If both writes happen within one millisecond, that time shows the later one.
    if (changed.updated_at === article.updated_at) return;
    expect((await get(`article/${article.id}?as_of=${as_of}`)).data['tags']).to.deep.equal([a.id]);
    const [listed] = await get<readonly Entry[]>(`article?as_of=${as_of}&filters[_id]=${article.id}`);
    expect(listed?.data['tags']).to.deep.equal([a.id]);
  });

  it('appear as ids in webhooks', async () => {
    const tag = await create('tag', { name: 'a' });
    const hook = await service.owner('POST', '/api/admin/webhooks', {
      name: 'links',
      url: `${receiver.url}/hook`,
      events: ['after_create', 'after_update'],
      schemas: ['article'],
    });
    expect(hook.status, hook.text).to.equal(201);
    const article = await create('article', { name: 'told', tags: [tag.id] });
    await key('PUT', `/api/v1/content/article/${article.id}`, { data: { tags: [] } });
    const told = (await receiver.waitFor(2)).map(
      ({ body }) =>
        JSON.parse(body) as {
          readonly event: string;
          readonly data: Readonly<Record<string, Json>>;
          readonly old_data?: Readonly<Record<string, Json>>;
        },
    );
    expect(told.find(({ event }) => event === 'after_create')?.data['tags']).to.deep.equal([tag.id]);
    const update = told.find(({ event }) => event === 'after_update');
    expect([update?.old_data?.['tags'], update?.data['tags']]).to.deep.equal([[tag.id], []]);
  });

  it('of kind many_to_many are refused with options that do not apply to them', async () => {
    for (const [more, reason] of [
      [{ default: [] }, 'a relation has no default'],
      [{ unique: true }, 'cannot be unique or indexed'],
      [{ indexed: true }, 'cannot be unique or indexed'],
      [{ validation: [{ rule: 'min_length', params: { value: 1 } }] }, 'has no validation rules'],
      [{ localized: true }, 'cannot be localized'],
    ] as const) {
      const reply = await service.owner('POST', '/api/admin/schemas', {
        name: 'wrong',
        fields: [relation('tags', 'tag', 'many_to_many', more)],
      });
      expect(reply.status, reason).to.equal(422);
      expect(reply.json()['error'], reason).to.include(reason);
    }
  });
});
