import { expect } from 'chai';
import { Agent } from 'undici';
import { v7 } from 'uuid';
import { readRoutes } from '../../../api/content/read-routes.ts';
import { relationRoutes } from '../../../api/content/relation-routes.ts';
import { writeRoutes } from '../../../api/content/write-routes.ts';
import type { AccessRules } from '../../../application/ports/access-rules.ts';
import type { Principal } from '../../../domain/identity/principal.ts';
import type { Database } from '../../../infrastructure/postgres/database.ts';
import { createEntryQueries } from '../../../projections/content/entries/entry-queries.ts';
import { useContent } from '../../support/content.ts';
import { caller, resultOf, statusAndError } from '../../support/http.ts';
import { type EntryAnswer as Entry, apiKey, useServedContent } from '../../support/serve-content.ts';

const PRINCIPALS: Readonly<Record<string, Principal>> = {
  writer: apiKey(),
  other: apiKey({ keyId: 'k2', tenant: 'acme' }),
  listed: apiKey({ schemas: ['article', 'tag'] }),
  guest: apiKey({ roles: ['guest'] }),
};

const NOTHING: ReadonlySet<string> = new Set();
/** `guest` may read every type except profiles; a person's e-mail address and the author of a comment are masked. */
const accessRules: AccessRules = {
  decide: ({ roles, schema }) => {
    if (roles.includes('editor')) return { allowed: true, maskedFields: NOTHING };
    const masks: Readonly<Record<string, readonly string[]>> = { person: ['email'], comment: ['by'] };
    return { allowed: roles.includes('guest') && schema !== 'profile', maskedFields: new Set(masks[schema] ?? []) };
  },
};

type Related = { readonly data: readonly Entry[]; readonly total: number };

const relation = (
  name: string,
  relation_to: string,
  relation_type: 'belongs_to' | 'has_one' | 'has_many' | 'many_to_many',
  more: object = {},
) => ({ name, field_type: 'relation', relation_to, relation_type, ...more }) as const;

describe('relations over HTTP', () => {
  const content = useContent();
  const agent = new Agent({ connections: 16 });
  const statements: string[] = [];
  const served = useServedContent({ content, routes, principals: PRINCIPALS });
  const as = (name: string) => caller(() => served().content.url, { 'x-api-key': name }, agent);
  const call = as('writer');

  /** Routes whose SQL statements are recorded in `statements`. */
  function routes() {
    const db = content.database();
    const recorded: Database = {
      ...db,
      query: (text, values, name) => (statements.push(text), db.query(text, values, name)),
      execute: (text, values, name) => (statements.push(text), db.execute(text, values, name)),
    };
    const dependencies = {
      ...content.dependencies(),
      ...createEntryQueries({ database: recorded, past: content.dependencies().past }),
      accessRules,
    };
    return [...readRoutes(dependencies), ...writeRoutes(dependencies), ...relationRoutes(dependencies)];
  }

  before(async () => {
    const name = { name: 'name', field_type: 'text' } as const;
    await content.save({ name: 'tag', with_draft_publish: true, fields: [name] });
    await content.save({
      name: 'person',
      fields: [
        name,
        { name: 'email', field_type: 'email' },
        relation('profile', 'profile', 'has_one', { relation_field: 'person' }),
        relation('articles', 'article', 'has_many', { relation_field: 'author' }),
        relation('comments', 'comment', 'has_many', { relation_field: 'by' }),
      ],
    });
    await content.save({
      name: 'profile',
      fields: [{ name: 'bio', field_type: 'text' }, relation('person', 'person', 'belongs_to')],
    });
    await content.save({
      name: 'article',
      with_draft_publish: true,
      fields: [
        { name: 'title', field_type: 'text', required: true },
        relation('author', 'person', 'belongs_to'),
        relation('tags', 'tag', 'many_to_many'),
        relation('comments', 'comment', 'has_many', { relation_field: 'article' }),
      ],
    });
    await content.save({
      name: 'comment',
      fields: [
        { name: 'text', field_type: 'text' },
        relation('article', 'article', 'belongs_to'),
        relation('by', 'person', 'belongs_to'),
      ],
    });
    await content.save({ name: 'tag', with_draft_publish: true, fields: [name] }, 'acme');
    await content.save({ name: 'closed', transports: { rest: 'off' }, fields: [name] });
    await content.save({
      name: 'album',
      fields: [
        relation('cover', 'closed', 'belongs_to'),
        relation('covers', 'closed', 'many_to_many'),
        relation('tags', 'tag', 'many_to_many', { required: true }),
      ],
    });
  });
  after(() => agent.close());

  async function create(schema: string, data: Record<string, unknown>, by = call): Promise<Entry> {
    return resultOf<Entry>(await by('POST', `/api/v1/content/${schema}`, { data }), 201);
  }
  async function publish(schema: string, entry: Entry, by = call): Promise<Entry> {
    return resultOf<Entry>(await by('PUT', `/api/v1/content/${schema}/${entry.id}/publish`));
  }
  const tag = async (name: string) => publish('tag', await create('tag', { name }));
  const article = async (data: Record<string, unknown>) => publish('article', await create('article', data));
  async function get<T = Entry>(path: string, by = call): Promise<T> {
    const reply = await by('GET', `/api/v1/content/${path}`);
    expect(reply.status, `${path}: ${reply.text}`).to.equal(200);
    return reply.json<T>();
  }
  const ids = (entries: unknown) => (entries as readonly Entry[]).map(({ id }) => id);

  describe('a many_to_many relation', () => {
    it('stores its ids in order without duplicates, and can be read, updated and emptied', async () => {
      const [a, b, c] = [await tag('a'), await tag('b'), await tag('c')];
      const made = await create('article', { title: 'x', tags: [c.id, a.id.toUpperCase(), c.id] });
      expect(made.data['tags']).to.deep.equal([c.id, a.id]);
      expect(await get(`article/${made.id}`)).to.deep.equal(made);
      const put = async (tags: unknown) =>
        (await call('PUT', `/api/v1/content/article/${made.id}`, { data: { tags } })).json<Entry>();
      expect((await put([a.id, b.id, c.id])).data['tags']).to.deep.equal([a.id, b.id, c.id]);
      expect((await put([a.id, b.id, c.id])).version, 'the same again').to.equal(2);
      expect((await put([c.id, b.id, a.id])).version, 'another order').to.equal(3);
      expect((await put(null)).data['tags']).to.deep.equal([]);
      expect((await put([])).version).to.equal(4);
      const [last] = (await content.log()).filter(({ type }) => type === 'EntryFieldsChanged').slice(-1);
      expect(last?.data).to.deep.include({ fields: { tags: [] } });
      expect((await create('article', { title: 'y' })).data['tags']).to.deep.equal([]);
    });

    it('refuses a value that is not a list of ids, and entries that do not exist or belong to another type or tenant', async () => {
      const person = await create('person', { name: 'p' });
      const foreign = await create('tag', { name: 'theirs' }, as('other'));
      const own = await tag('own');
      const post = (tags: unknown) => call('POST', '/api/v1/content/article', { data: { title: 'x', tags } });
      for (const wrong of ['x', own.id, [1], [null], ['x'], { 0: own.id }, [[own.id]]]) {
        expect((await post(wrong)).json(), JSON.stringify(wrong)).to.deep.include({
          error: 'validation failed',
          fields: [{ field: 'tags', message: 'must be a list of ids of entries' }],
        });
      }
      for (const stranger of [person.id, foreign.id, v7()])
        expect(statusAndError(await post([own.id, stranger]))).to.deep.equal([
          422,
          `related entry not found: ${stranger}`,
        ]);
      expect((await post(Array.from({ length: 1001 }, () => v7()))).json<{ fields: unknown }>().fields).to.deep.equal([
        { field: 'tags', message: 'must contain at most 1000 ids' },
      ]);
      const bulk = await call('POST', '/api/v1/content/article/bulk', {
        entries: [{ data: { title: 'a', tags: [own.id] } }, { data: { title: 'b', tags: [foreign.id] } }],
      });
      expect([bulk.status, bulk.json()['errors']]).to.deep.equal([
        422,
        [{ index: 1, field: 'tags', message: `related entry not found: ${foreign.id}` }],
      ]);
    });

    it('needs at least one entry if it is required', async () => {
      for (const data of [{}, { tags: [] }, { tags: null }])
        expect(
          (await call('POST', '/api/v1/content/album', { data })).json<{ fields: unknown }>().fields,
        ).to.deep.equal([{ field: 'tags', message: 'is required' }]);
      const made = await create('album', { tags: [(await tag('t')).id] });
      expect((await call('PUT', `/api/v1/content/album/${made.id}`, { data: { tags: [] } })).status).to.equal(422);
    });
  });

  it('refuses a has_one or has_many in data, and leaves it out unless it is populated', async () => {
    const refused = await call('POST', '/api/v1/content/person', { data: { articles: [], profile: null } });
    expect(refused.status).to.equal(422);
    expect(refused.json<{ fields: unknown }>().fields).to.deep.equal([
      { field: 'articles', message: 'is written on the other side' },
      { field: 'profile', message: 'is written on the other side' },
    ]);
    expect((await create('person', { name: 'p' })).data).to.have.all.keys('name', 'email');
  });

  describe('populate', () => {
    let person: Entry;
    let profile: Entry;
    let tags: readonly Entry[];
    let first: Entry;
    let second: Entry;
    let draft: Entry;
    let comments: readonly Entry[];

    before(async () => {
      person = await create('person', { name: 'Ada', email: 'ada@example.org' });
      profile = await create('profile', { bio: 'x', person: person.id });
      tags = [await tag('one'), await tag('two'), await create('tag', { name: 'a draft' })];
      first = await article({ title: 'first', author: person.id, tags: [...ids(tags)].reverse() });
      second = await article({ title: 'second', author: person.id });
      draft = await create('article', { title: 'draft', author: person.id, tags: ids(tags) });
      comments = [
        await create('comment', { text: 'c1', article: first.id, by: person.id }),
        await create('comment', { text: 'c2', article: first.id }),
      ];
    });

    it('returns a belongs_to as the entry beside its id, or null', async () => {
      const found = await get(`article/${first.id}?populate=author`);
      expect(found.data).to.deep.equal({ ...first.data, author: await get(`person/${person.id}`) });
      expect(Object.keys(found.data)).to.deep.equal(['title', 'author_id', 'author', 'tags']);
      const lonely = await article({ title: 'lonely' });
      expect((await get(`article/${lonely.id}?populate=author`)).data).to.deep.include({
        author_id: null,
        author: null,
      });
    });

    it('returns a has_one as the entry or null, and a has_many as a list in order of creation', async () => {
      const found = await get(`person/${person.id}?populate=profile,articles`);
      expect(found.data['profile']).to.deep.equal(await get(`profile/${profile.id}`));
      expect(found.data['articles']).to.deep.equal([
        await get(`article/${first.id}`),
        await get(`article/${second.id}`),
      ]);
      const nobody = await create('person', { name: 'Nobody' });
      expect((await get(`person/${nobody.id}?populate=profile,articles`)).data).to.deep.include({
        profile: null,
        articles: [],
      });
    });

    it('replaces the ids of a many_to_many with the entries in the same order', async () => {
      const found = await get(`article/${first.id}?populate=tags`);
      expect(found.data['tags']).to.deep.equal([await get(`tag/${tags[1]?.id}`), await get(`tag/${tags[0]?.id}`)]);
      expect((await get(`article/${second.id}?populate=tags`)).data['tags']).to.deep.equal([]);
    });

    it('populates all relations for *, in lists, pages and single reads', async () => {
      const found = await get(`article/${first.id}?populate=*`);
      expect(Object.keys(found.data)).to.deep.equal(['title', 'author_id', 'author', 'tags', 'comments']);
      expect(ids(found.data['comments'])).to.deep.equal(ids(comments));
      const query = `populate=*&filters[_id]=${first.id}`;
      expect(await get(`article?${query}`)).to.deep.equal([found]);
      expect((await get<{ data: readonly Entry[] }>(`article/cursor?${query}`)).data).to.deep.equal([found]);
      expect(await get(`article/${first.id}?populate=author,tags,comments`)).to.deep.equal(found);
    });

    it('populates relations of related entries to the requested depth, also in a cycle', async () => {
      const at = (entry: unknown, ...path: readonly (string | number)[]): unknown =>
        path.reduce<unknown>(
          (value, step) =>
            typeof step === 'number' ? (value as readonly unknown[])[step] : (value as Entry).data[step],
          entry,
        );
      const two = await get(`article/${first.id}?populate=author&depth=2`);
      expect(ids(at(two, 'author', 'articles'))).to.deep.equal([first.id, second.id]);
      expect(at(two, 'author', 'articles', 0)).to.deep.equal(await get(`article/${first.id}`));
      const three = await get(`article/${first.id}?populate=author&depth=3`);
      expect(at(three, 'author', 'articles', 0, 'author')).to.deep.equal(await get(`person/${person.id}`));
      expect(ids(at(three, 'author', 'articles', 0, 'tags'))).to.deep.equal([tags[1]?.id, tags[0]?.id]);
      expect(at(three, 'author', 'profile', 'person')).to.deep.equal(await get(`person/${person.id}`));
      expect(await get(`article?populate=author&depth=3&filters[_id]=${first.id}`)).to.deep.equal([three]);
      expect(await get(`article/${first.id}?populate=author&depth=1`)).to.deep.equal(
        await get(`article/${first.id}?populate=author`),
      );
    });

    it('populates only published entries in a published entry, and all entries in a draft, which is a preview', async () => {
      expect(ids((await get(`article/${draft.id}?populate=tags`)).data['tags'])).to.deep.equal(ids(tags));
      expect(ids((await get(`person/${person.id}?populate=articles`)).data['articles'])).to.deep.equal([
        first.id,
        second.id,
      ]);
      const [listed] = await get<readonly Entry[]>(
        `article?populate=tags&filters[_status]=draft&filters[_id]=${draft.id}`,
      );
      expect(ids(listed?.data['tags'])).to.deep.equal(ids(tags));
    });

    it('applies fields to the top level only, and returns populated relations that fields does not name', async () => {
      expect((await get(`article/${first.id}?populate=author&fields=title`)).data).to.deep.equal({
        title: 'first',
        author: await get(`person/${person.id}`),
      });
      expect(
        (await get<readonly Entry[]>(`article?populate=tags,author&fields=title&filters[_id]=${first.id}`))[0]?.data,
      ).to.have.all.keys('title', 'tags', 'author');
      expect((await get(`article/${first.id}?populate=tags&fields=author`)).data).to.have.all.keys('author_id', 'tags');
    });

    it('leaves out masked fields of related entries, and keeps ids of types that the caller may not read', async () => {
      const guest = as('guest');
      const found = await get(`article/${first.id}?populate=*&depth=2`, guest);
      expect((found.data['author'] as Entry).data).to.have.all.keys('name', 'articles');
      for (const comment of found.data['comments'] as readonly Entry[])
        expect(comment.data).to.have.all.keys('text', 'article_id', 'article');
      expect(
        (await get(`person/${person.id}?populate=*`, guest)).data,
        'no profile, and no comments, whose author is masked',
      ).to.have.all.keys('name', 'articles');
      expect((await get(`person/${person.id}?populate=profile,comments`, guest)).data).to.have.all.keys('name');
      const listed = as('listed');
      expect((await get(`article/${first.id}?populate=*`, listed)).data)
        .to.deep.include({ author_id: person.id })
        .and.to.have.all.keys('title', 'author_id', 'tags');
      expect(
        statusAndError(await guest('GET', `/api/v1/content/comment/${comments[0]?.id}?populate=by`)),
      ).to.deep.equal([400, 'invalid query parameter: populate']);
    });

    it('keeps ids of a type that is not served over REST', async () => {
      const album = await create('album', { tags: [tags[0]?.id] });
      expect((await get(`album/${album.id}?populate=*`)).data)
        .to.deep.include({ cover_id: null, covers: [] })
        .and.not.to.have.property('cover');
    });

    it('leaves out deleted entries', async () => {
      const author = await create('person', { name: 'Gone' });
      const made = await article({ title: 'left', author: author.id });
      const comment = await create('comment', { text: 'x', article: made.id });
      expect((await call('DELETE', `/api/v1/content/comment/${comment.id}`)).status).to.equal(204);
      expect((await get(`article/${made.id}?populate=comments`)).data['comments']).to.deep.equal([]);
    });

    it('refuses names that are not relations, and a depth outside 1 to 3', async () => {
      for (const path of ['article', 'article/cursor', `article/${first.id}`]) {
        for (const wrong of ['title', 'nope', 'author,nope', '*,nope', 'comments_id', 'author.profile', "author'"]) {
          expect(
            statusAndError(await call('GET', `/api/v1/content/${path}?populate=${encodeURIComponent(wrong)}`)),
            wrong,
          ).to.deep.equal([400, 'invalid query parameter: populate']);
        }
        for (const wrong of ['0', '4', '-1', 'x', ''])
          expect(
            statusAndError(await call('GET', `/api/v1/content/${path}?populate=*&depth=${wrong}`)),
            wrong,
          ).to.deep.equal([400, 'invalid query parameter: depth']);
      }
      expect(await get(`article/${first.id}?populate=`)).to.deep.equal(await get(`article/${first.id}`));
      expect(await get(`article/${first.id}?populate=author_id`)).to.deep.equal(
        await get(`article/${first.id}?populate=author`),
      );
    });

    it('never answers 304 to a populated read, because related entries change without a new version', async () => {
      const plain = await call('GET', `/api/v1/content/article/${first.id}`, undefined, { 'if-none-match': '*' });
      expect(plain.status).to.equal(304);
      const populated = await call('GET', `/api/v1/content/article/${first.id}?populate=author`, undefined, {
        'if-none-match': '*',
      });
      expect([populated.status, populated.headers['etag']]).to.deep.equal([200, plain.headers['etag']]);
    });

    it('runs one SQL statement for a list at any depth', async () => {
      for (const depth of [1, 2, 3]) {
        const path = `article?populate=*&depth=${depth}`;
        await get(path);
        statements.length = 0;
        const found = await get<readonly Entry[]>(path);
        expect(found.length).to.be.greaterThan(2);
        expect(statements).to.have.length(1);
      }
    });
  });

  describe('the related entries of one entry', () => {
    it('are listed in order, in pages, with their total', async () => {
      const all = [await tag('1'), await tag('2'), await tag('3')];
      const hidden = await create('tag', { name: 'draft' });
      const made = await article({ title: 'x', tags: [...ids(all), hidden.id] });
      const path = `article/${made.id}/relations/tags`;
      expect(await get<Related>(path)).to.deep.equal({
        data: await Promise.all(all.map(({ id }) => get(`tag/${id}`))),
        total: 3,
      });
      const page = await get<Related>(`${path}?limit=1&offset=1`);
      expect([ids(page.data), page.total]).to.deep.equal([[all[1]?.id], 3]);
      expect(await get<Related>(`${path}?offset=9`)).to.deep.equal({ data: [], total: 3 });
      expect((await call('GET', `/api/v1/content/${path}`)).headers['etag']).to.equal(`"${made.version}"`);
      for (const [name, value] of [
        ['limit', '0'],
        ['limit', '201'],
        ['offset', 'x'],
      ])
        expect(statusAndError(await call('GET', `/api/v1/content/${path}?${name}=${value}`))).to.deep.equal([
          400,
          `invalid query parameter: ${name}`,
        ]);
    });

    it('are listed for every kind of relation', async () => {
      const person = await create('person', { name: 'p' });
      const profile = await create('profile', { person: person.id });
      const made = [await article({ title: 'a', author: person.id }), await article({ title: 'b', author: person.id })];
      expect(await get<Related>(`person/${person.id}/relations/articles`)).to.deep.equal({ data: made, total: 2 });
      expect(ids((await get<Related>(`person/${person.id}/relations/articles?limit=1&offset=1`)).data)).to.deep.equal([
        made[1]?.id,
      ]);
      expect(await get<Related>(`person/${person.id}/relations/profile`)).to.deep.equal({ data: [profile], total: 1 });
      expect(await get<Related>(`article/${made[0]?.id}/relations/author`)).to.deep.equal({ data: [person], total: 1 });
      expect(await get<Related>(`article/${made[0]?.id}/relations/author_id`)).to.deep.equal({
        data: [person],
        total: 1,
      });
      expect(await get<Related>(`person/${(await create('person', {})).id}/relations/articles`)).to.deep.equal({
        data: [],
        total: 0,
      });
    });

    it('are replaced in order after checks and under If-Match; a belongs_to accepts at most one', async () => {
      const [a, b] = [await tag('a'), await tag('b')];
      const person = await create('person', { name: 'p' });
      const made = await create('article', { title: 'x' });
      const put = (field: string, body: unknown, headers?: Record<string, string>) =>
        call('PUT', `/api/v1/content/article/${made.id}/relations/${field}`, body, headers);
      const done = await put('tags', { ids: [b.id, a.id] });
      expect([done.status, done.headers['etag'], done.json<Entry>().data['tags']]).to.deep.equal([
        200,
        '"2"',
        [b.id, a.id],
      ]);
      expect(ids((await get<Related>(`article/${made.id}/relations/tags`)).data)).to.deep.equal([b.id, a.id]);
      expect(statusAndError(await put('tags', { ids: [] }, { 'if-match': '"1"' }))).to.deep.equal([
        412,
        'the entry has changed',
      ]);
      expect((await put('tags', { ids: [a.id] }, { 'if-match': '"2"' })).json<Entry>().data['tags']).to.deep.equal([
        a.id,
      ]);
      expect((await put('author', { ids: [person.id] })).json<Entry>().data['author_id']).to.equal(person.id);
      expect((await put('author', { ids: [person.id, person.id] })).status).to.equal(422);
      expect((await put('author', { ids: [] })).json<Entry>().data['author_id']).to.equal(null);
      const stranger = v7();
      for (const field of ['tags', 'author']) {
        expect(statusAndError(await put(field, { ids: [stranger] }))).to.deep.equal([
          422,
          `related entry not found: ${stranger}`,
        ]);
        expect(statusAndError(await put(field, { ids: ['x'] }))).to.deep.equal([422, 'related entry not found: x']);
        for (const body of [{}, { ids: 'x' }, { ids: [1] }, { ids: [], more: 1 }])
          expect((await put(field, body)).status, JSON.stringify(body)).to.equal(422);
      }
      expect(statusAndError(await put('comments', { ids: [] }))).to.deep.equal([422, 'validation failed']);
      for (const field of ['title', 'nope', '__proto__'])
        expect(statusAndError(await put(field, { ids: [] }))).to.deep.equal([404, 'field not found in schema']);
    });

    it('are refused for an unknown field, entry or type, a masked field, another tenant, and without the right to read', async () => {
      const made = await article({ title: 'x' });
      expect(statusAndError(await call('GET', `/api/v1/content/article/${made.id}/relations/title`))).to.deep.equal([
        404,
        'field not found in schema',
      ]);
      for (const id of [v7(), 'x'])
        expect((await call('GET', `/api/v1/content/article/${id}/relations/tags`)).status).to.equal(404);
      expect((await call('GET', `/api/v1/content/nope/${made.id}/relations/tags`)).status).to.equal(404);
      expect((await as('other')('GET', `/api/v1/content/tag/${(await tag('t')).id}/relations/x`)).status).to.equal(404);
      const comment = await create('comment', { text: 'x' });
      expect(
        statusAndError(await as('guest')('GET', `/api/v1/content/comment/${comment.id}/relations/by`)),
      ).to.deep.equal([404, 'field not found in schema']);
      const person = await create('person', { name: 'p' });
      for (const field of ['profile', 'comments'])
        expect(
          statusAndError(await as('guest')('GET', `/api/v1/content/person/${person.id}/relations/${field}`)),
        ).to.deep.equal([403, 'permission denied']);
      expect(
        statusAndError(await as('guest')('PUT', `/api/v1/content/article/${made.id}/relations/tags`, { ids: [] })),
      ).to.deep.equal([403, 'insufficient permissions']);
    });
  });
});
