import { expect } from 'chai';
import { v7 } from 'uuid';
import { adminContentRoutes } from '../../../../api/admin/content/admin-content-routes.ts';
import { entryRoutes } from '../../../../api/content/entry-routes.ts';
import { compileAccessRules } from '../../../../application/identity/compile-access-rules.ts';
import { FREE_TIER } from '../../../../application/ports/entitlements.ts';
import type { ContentType } from '../../../../domain/content/content-type.ts';
import { ENTRY_TRANSITIONS } from '../../../../domain/content/entry.ts';
import { DEFAULT_ACCESS_RULE } from '../../../../domain/identity/access-rule.ts';
import type { Principal } from '../../../../domain/identity/principal.ts';
import { createAdminContentDependencies } from '../../../../infrastructure/composition/content/create-admin-content-dependencies.ts';
import { contentTypesById } from '../../../../projections/content/content-types/rows.ts';
import { LIVE, useContent } from '../../../support/content.ts';
import { caller, resultOf, statusAndError } from '../../../support/http.ts';
import { type EntryAnswer, apiKey, useServedContent, userSession } from '../../../support/serve-content.ts';
import { serve } from '../../../support/serve-routes.ts';

const PRINCIPALS: Readonly<Record<string, Principal>> = {
  editor: userSession(['editor']),
  admin: userSession(['admin']),
  reader: userSession(['reader']),
  acme: userSession(['editor'], 'acme'),
  key: apiKey(),
};
const RULES = [
  DEFAULT_ACCESS_RULE,
  { role: 'reader', schema_name: 'article', actions: ['read'], field_mask: ['title'] },
] as const;

type Entry = EntryAnswer & { readonly slug: string | null; readonly title: string | null };
type Page = {
  readonly data: readonly Entry[];
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
};

describe('admin content over HTTP', () => {
  const content = useContent();
  const served = useServedContent({ content, routes, principals: PRINCIPALS });
  let article: ContentType;
  const as = (name: string) => caller(() => served().admin.url, { authorization: `Bearer ${name}` });
  const [call, admin] = [as('editor'), as('admin')];
  const ROOT = '/api/admin/content';

  function routes() {
    const dependencies = { ...content.dependencies(), accessRules: { decide: compileAccessRules(RULES) } };
    const typeById = async (id: string) => (await contentTypesById(content.database(), LIVE.schema, [id])).get(id);
    return [
      ...adminContentRoutes(
        createAdminContentDependencies(
          { database: content.database(), replica: undefined, entitlements: FREE_TIER },
          { typeById, entryDependencies: dependencies },
        ),
      ),
      ...entryRoutes(dependencies),
    ];
  }

  before(async () => {
    article = await content.save({
      name: 'article',
      with_draft_publish: true,
      with_soft_delete: true,
      fields: [
        { name: 'title', field_type: 'text' },
        { name: 'code', field_type: 'text', unique: true },
        { name: 'views', field_type: 'integer' },
      ],
    });
    await content.save({
      name: 'page',
      transports: { rest: 'r' },
      fields: [
        { name: 'body', field_type: 'rich_text' },
        { name: 'name', field_type: 'text' },
      ],
    });
    await content.save({
      name: 'number',
      fields: [
        { name: 'n', field_type: 'integer' },
        { name: 'label', field_type: 'text' },
        { name: 'other', field_type: 'text' },
      ],
    });
    await content.save({ name: 'article', fields: [{ name: 'title', field_type: 'text' }] }, 'acme');
  });

  async function create(body: Record<string, unknown>, by = call): Promise<Entry> {
    return resultOf<Entry>(await by('POST', ROOT, { schema_name: 'article', data: {}, ...body }), 201);
  }
  const titled = (title: string) => create({ data: { title } });

  describe('an entry', () => {
    it('is created with a title and a slug, and read with the same JSON', async () => {
      const reply = await call('POST', ROOT, { schema_name: 'article', data: { title: 'Grüße, Welt!', views: 3 } });
      expect(reply.status).to.equal(201);
      expect(reply.headers).to.include({ etag: '"1"' }).and.include.keys('x-commit-position');
      const entry = reply.json<Entry>();
      expect(entry).to.deep.include({
        schema_name: 'article',
        title: 'Grüße, Welt!',
        slug: 'grusse-welt',
        status: 'draft',
        version: 1,
        published_at: null,
        created_by: { kind: 'user', id: 'user-editor' },
      });
      expect(entry.data).to.deep.equal({ title: 'Grüße, Welt!', code: null, views: 3 });
      const read = await call('GET', `${ROOT}/${entry.id}`);
      expect([read.status, read.headers['etag'], read.json()]).to.deep.equal([200, '"1"', entry]);
      expect((await call('GET', `${ROOT}/${entry.id}`, undefined, { 'if-none-match': '"1"' })).status).to.equal(304);
    });

    it('takes its title from the field title, else name, else the first text field', async () => {
      expect((await create({ schema_name: 'page', data: { body: 'b', name: 'About us' } })).title).to.equal('About us');
      expect(await create({ schema_name: 'number', data: { n: 1, label: 'One', other: 'x' } })).to.include({
        title: 'One',
        slug: 'one',
      });
      expect(await create({ schema_name: 'number', data: { n: 2 } })).to.include({ title: null, slug: null });
    });

    it('can be created as published, and the Content API shows the same status', async () => {
      const entry = await create({ data: { title: 'At once' }, status: 'published' });
      expect(entry['status']).to.equal('published');
      const reply = await caller(() => served().content.url, { 'x-api-key': 'key' })(
        'GET',
        `/api/v1/content/article/${entry.id}`,
      );
      expect(reply.json()).to.include({ status: 'published', slug: 'at-once' });
    });

    it('refuses a status that its type does not have, and malformed bodies', async () => {
      expect((await call('POST', ROOT, { schema_name: 'number', data: {}, status: 'draft' })).json()).to.deep.include({
        error: 'validation failed',
        fields: [{ field: 'status', message: 'the content type has no drafts' }],
      });
      for (const body of [
        { data: {} },
        { schema_name: 'article' },
        { schema_name: 'article', data: {}, status: 'archived' },
        { schema_name: 'article', data: {}, more: 1 },
        { schema_name: 'article', data: [] },
      ]) {
        expect(statusAndError(await call('POST', ROOT, body))[0], JSON.stringify(body)).to.equal(422);
      }
      expect(statusAndError(await call('POST', ROOT, { schema_name: 'nope', data: {} }))).to.deep.equal([
        404,
        'schema not found',
      ]);
      expect((await call('POST', ROOT, { schema_name: 'article', data: { nope: 1 } })).json()).to.deep.include({
        fields: [{ field: 'nope', message: 'unknown field' }],
      });
    });

    it('repeats the first response for a repeated idempotency key', async () => {
      const send = () =>
        call('POST', ROOT, { schema_name: 'article', data: { title: 'idem' } }, { 'idempotency-key': 'i-1' });
      const [first, again] = [await send(), await send()];
      expect(again.json()).to.deep.equal(first.json());
      expect(again.headers['idempotency-replayed']).to.equal('true');
    });

    it('is updated with the fields and the slug in the body', async () => {
      const entry = await titled('Before');
      const path = `${ROOT}/${entry.id}`;
      expect(resultOf<Entry>(await call('PUT', path, { data: { title: 'After' } }))).to.include({
        title: 'After',
        slug: 'before',
        version: 2,
      });
      expect(resultOf<Entry>(await call('PUT', path, { slug: 'Quite Another' }))).to.include({
        title: 'After',
        slug: 'quite-another',
        version: 3,
      });
      expect(resultOf<Entry>(await call('PUT', path, { data: { title: 'After' }, slug: 'quite-another' }))).to.include({
        version: 3,
      });
      expect(statusAndError(await call('PUT', path, { data: {} }, { 'if-match': '"1"' }))).to.deep.equal([
        412,
        'the entry has changed',
      ]);
      expect((await call('PUT', path, { data: { title: 'x' } }, { 'if-match': '"3"' })).headers['etag']).to.equal(
        '"4"',
      );
    });

    it('is moved, deleted and restored under If-Match', async () => {
      const entry = await titled('Moving');
      const path = `${ROOT}/${entry.id}`;
      for (const [index, step] of ['publish', 'unpublish', 'archive', 'unarchive'].entries()) {
        expect((await call('PUT', `${path}/${step}`, undefined, { 'if-match': '"77"' })).status).to.equal(412);
        expect(
          resultOf<Entry>(await call('PUT', `${path}/${step}`, undefined, { 'if-match': `"${index + 1}"` })),
        ).to.include({
          version: index + 2,
          title: 'Moving',
        });
      }
      expect(statusAndError(await call('PUT', `${path}/unpublish`))).to.deep.equal([409, 'invalid status transition']);
      expect((await call('DELETE', path, undefined, { 'if-match': '"77"' })).status).to.equal(412);
      expect((await call('DELETE', path, undefined, { 'if-match': '"5"' })).status).to.equal(204);
      expect(statusAndError(await call('GET', path))).to.deep.equal([404, 'content not found']);
      expect(resultOf<Entry>(await call('PUT', `${path}/undelete`, undefined, { 'if-match': '"6"' }))).to.include({
        version: 7,
        status: 'draft',
        slug: 'moving',
      });
    });

    it('is not found by an unknown id, in another tenant, or when it is deleted', async () => {
      const entry = await titled('mine');
      const gone = await titled('gone');
      await call('DELETE', `${ROOT}/${gone.id}`);
      for (const [by, id] of [
        [call, v7()],
        [call, 'nonsense'],
        [as('acme'), entry.id],
        [call, gone.id],
      ] as const) {
        expect(statusAndError(await by('GET', `${ROOT}/${id}`)), id).to.deep.equal([404, 'content not found']);
        expect(statusAndError(await by('PUT', `${ROOT}/${id}`, { data: {} }))).to.deep.equal([
          404,
          'content not found',
        ]);
        expect(statusAndError(await by('DELETE', `${ROOT}/${id}`))).to.deep.equal([404, 'content not found']);
        for (const move of ENTRY_TRANSITIONS)
          expect(statusAndError(await by('PUT', `${ROOT}/${id}/${move}`))).to.deep.equal([404, 'content not found']);
      }
    });
  });

  describe('the history of an entry', () => {
    it('is served as on the Content API: revisions, one revision, differences and blame', async () => {
      const entry = await create({ data: { title: 'one', views: 1 } });
      const path = `${ROOT}/${entry.id}`;
      resultOf<Entry>(await call('PUT', path, { data: { title: 'two' } }));
      resultOf<Entry>(await call('PUT', `${path}/publish`));
      const api = caller(() => served().content.url, { 'x-api-key': 'key' });
      for (const part of [
        'revisions',
        'revisions?limit=1&offset=1&count=true',
        'revisions/2',
        'revisions/1/diff/2',
        'blame',
      ]) {
        const [mine, theirs] = await Promise.all([
          call('GET', `${path}/${part}`),
          api('GET', `/api/v1/content/article/${entry.id}/${part}`),
        ]);
        expect([mine.status, mine.json(), mine.headers['x-total-count']], part).to.deep.equal([
          200,
          theirs.json(),
          theirs.headers['x-total-count'],
        ]);
      }
      const reader = as('reader');
      expect((await reader('GET', `${path}/revisions/1`)).json<Entry>().data).to.deep.equal({ code: null, views: 1 });
      expect((await reader('GET', `${path}/revisions/1/diff/2`)).json()).to.deep.equal({ changes: [] });
      expect(JSON.stringify((await reader('GET', `${path}/blame`)).json())).to.not.include('title');
    });

    it('can be restored as a new revision under If-Match', async () => {
      const entry = await create({ data: { title: 'restore one' } });
      const path = `${ROOT}/${entry.id}`;
      resultOf<Entry>(await call('PUT', path, { data: { title: 'restore two' } }));
      expect(
        statusAndError(await call('PUT', `${path}/revisions/1/restore`, undefined, { 'if-match': '"1"' })),
      ).to.deep.equal([412, 'the entry has changed']);
      expect(
        resultOf<Entry>(await call('PUT', `${path}/revisions/1/restore`, undefined, { 'if-match': '"2"' })),
      ).to.include({
        title: 'restore one',
        slug: 'restore-one',
        version: 3,
      });
      expect(statusAndError(await call('PUT', `${path}/revisions/9/restore`))).to.deep.equal([
        404,
        'revision not found',
      ]);
    });

    it('is not found for an entry of another tenant', async () => {
      const { id } = await titled('past');
      for (const part of ['revisions', 'revisions/1', 'revisions/1/diff/1', 'blame'])
        expect(statusAndError(await as('acme')('GET', `${ROOT}/${id}/${part}`))).to.deep.equal([
          404,
          'content not found',
        ]);
      expect(statusAndError(await as('acme')('PUT', `${ROOT}/${id}/revisions/1/restore`))).to.deep.equal([
        404,
        'content not found',
      ]);
    });
  });

  describe('a slug', () => {
    it('gets a number if the one made from the title is taken', async () => {
      const slugs = [];
      for (let index = 0; index < 3; index += 1) slugs.push((await titled('Same title')).slug);
      expect(slugs).to.deep.equal(['same-title', 'same-title-2', 'same-title-3']);
    });

    it('is unique when many are made at the same time', async () => {
      const made = await Promise.all(Array.from({ length: 12 }, () => titled('In a race')));
      expect(made.map(({ slug }) => slug).toSorted()).to.deep.equal(
        ['in-a-race', ...Array.from({ length: 11 }, (_, index) => `in-a-race-${index + 2}`)].toSorted(),
      );
    });

    it('is normalised if given, and refused if another entry of the type has it', async () => {
      expect((await create({ slug: '  Ça va_bien? ' })).slug).to.equal('ca-va_bien');
      const reply = await call('POST', ROOT, {
        schema_name: 'article',
        data: { code: 'slug-code' },
        slug: 'ça va_bien',
      });
      expect([reply.status, reply.json()]).to.deep.equal([
        409,
        {
          error: 'unique value already held',
          code: 'unique_value_held',
          fields: [{ field: 'slug', message: 'unique value already held' }],
        },
      ]);
      expect((await create({ data: { code: 'slug-code' } })).slug).to.equal(null);
      expect((await create({ schema_name: 'page', slug: 'ca-va_bien' })).slug).to.equal('ca-va_bien');
      expect((await create({ slug: 'ca-va_bien' }, as('acme'))).slug).to.equal('ca-va_bien');
      const other = await titled('other');
      expect(statusAndError(await call('PUT', `${ROOT}/${other.id}`, { slug: 'ca-va_bien' }))).to.deep.equal([
        409,
        'unique value already held',
      ]);
    });

    it('is refused without a letter or digit, or with more than 255 characters', async () => {
      for (const slug of ['--', '?!', 'x'.repeat(256), 'x'.repeat(3000)])
        expect(
          statusAndError(await call('POST', ROOT, { schema_name: 'article', data: {}, slug }))[0],
          slug.slice(0, 10),
        ).to.equal(422);
      expect((await create({ slug: 'y'.repeat(255) })).slug).to.have.length(255);
      for (const slug of ['', null])
        expect((await create({ data: { title: 'left empty' }, slug })).slug).to.match(/^left-empty/);
      expect((await titled('long '.repeat(100))).slug).to.have.length.at.most(240);
    });

    it('is free after a deletion, and must be free to restore the entry', async () => {
      const entry = await titled('Comeback');
      await call('DELETE', `${ROOT}/${entry.id}`);
      const other = await titled('Comeback');
      expect(other.slug).to.equal('comeback');
      const reply = await call('PUT', `${ROOT}/${entry.id}/undelete`);
      expect([reply.status, reply.json()['fields']]).to.deep.equal([
        409,
        [{ field: 'slug', message: 'unique value already held' }],
      ]);
      resultOf<Entry>(await call('PUT', `${ROOT}/${other.id}`, { slug: 'elsewhere' }));
      expect(resultOf<Entry>(await call('PUT', `${ROOT}/${entry.id}/undelete`)).slug).to.equal('comeback');
    });

    it('is not named in the refusal when another unique value of the caller is held', async () => {
      await create({ data: { title: 'held', code: 'c-held' } });
      const reply = await call('POST', ROOT, { schema_name: 'article', data: { title: 'held', code: 'c-held' } });
      expect([reply.status, reply.json()['fields']]).to.deep.equal([
        409,
        [{ field: 'code', message: 'unique value already held' }],
      ]);
    });

    it('is made when the console saves an entry that has none', async () => {
      const api = caller(() => served().content.url, { 'x-api-key': 'key' });
      const { id } = (await api('POST', '/api/v1/content/article', { data: { title: 'From outside' } })).json<Entry>();
      expect(resultOf<Entry>(await call('GET', `${ROOT}/${id}`))).to.include({ slug: null, title: 'From outside' });
      expect(resultOf<Entry>(await call('PUT', `${ROOT}/${id}`, { data: { views: 1 } }))).to.include({
        slug: 'from-outside',
      });
    });

    it('identifies its entry', async () => {
      const entry = await titled('Found by slug');
      const reply = await call('GET', `${ROOT}/slug/found-by-slug?schema=article`);
      expect([reply.status, reply.json(), reply.headers['etag']]).to.deep.equal([200, entry, '"1"']);
      expect(resultOf<Entry>(await call('GET', `${ROOT}/slug/found-by-slug`)).id).to.equal(entry.id);
      expect(statusAndError(await as('acme')('GET', `${ROOT}/slug/found-by-slug`))).to.deep.equal([
        404,
        'content not found',
      ]);
      expect(statusAndError(await call('GET', `${ROOT}/slug/found-by-slug?schema=page`))).to.deep.equal([
        404,
        'content not found',
      ]);
      expect(statusAndError(await call('GET', `${ROOT}/slug/found-by-slug?schema=nope`))).to.deep.equal([
        404,
        'schema not found',
      ]);
      await create({ schema_name: 'page', slug: 'found-by-slug' });
      expect(statusAndError(await call('GET', `${ROOT}/slug/found-by-slug`))).to.deep.equal([
        400,
        'invalid query parameter: schema',
      ]);
      await call('DELETE', `${ROOT}/${entry.id}`);
      expect(statusAndError(await call('GET', `${ROOT}/slug/found-by-slug?schema=article`))).to.deep.equal([
        404,
        'content not found',
      ]);
    });
  });

  describe('the list', () => {
    let pageOne: Entry;
    let mine: readonly string[];
    const list = async (query = '', by = call): Promise<Page> => {
      return resultOf<Page>(await by('GET', `${ROOT}${query}`));
    };

    before(async () => {
      for (;;) {
        const { data } = await list('?limit=200');
        for (const { id } of data) await call('DELETE', `${ROOT}/${id}`);
        if (data.length === 0) break;
      }
      const first = await titled('first');
      pageOne = await create({ schema_name: 'page', data: { name: 'second' } });
      const third = await create({ data: { title: 'third' }, status: 'published' });
      resultOf<Entry>(await call('PUT', `${ROOT}/${first.id}`, { data: { views: 9 } }));
      mine = [first.id, third.id, pageOne.id];
    });

    it('contains the entries of all content types, latest change first, as single reads return them', async () => {
      const page = await list();
      expect(page).to.include({ total: 3, limit: 25, offset: 0 });
      expect(page.data.map(({ id }) => id)).to.deep.equal(mine);
      for (const entry of page.data)
        expect(entry).to.deep.equal(resultOf<Entry>(await call('GET', `${ROOT}/${entry.id}`)));
    });

    it('is paged across the types', async () => {
      expect((await list('?limit=1&offset=1')).data.map(({ id }) => id)).to.deep.equal([mine[1]]);
      expect(await list('?limit=2&offset=2')).to.deep.include({ total: 3, limit: 2, offset: 2 });
      for (const [query, name] of [
        ['limit=0', 'limit'],
        ['limit=201', 'limit'],
        ['offset=x', 'offset'],
        ['status=gone', 'status'],
        ['nope=1', 'nope'],
      ] as const) {
        expect(statusAndError(await call('GET', `${ROOT}?${query}`))).to.deep.equal([
          400,
          `invalid query parameter: ${name}`,
        ]);
      }
    });

    it('is filtered by content type and status', async () => {
      expect((await list('?schema=page')).data.map(({ id }) => id)).to.deep.equal([pageOne.id]);
      expect((await list('?status=draft')).data.map(({ id }) => id)).to.deep.equal([mine[0]]);
      expect((await list('?status=published')).data.map(({ id }) => id)).to.deep.equal([mine[1], pageOne.id]);
      expect(await list('?status=archived')).to.deep.include({ data: [], total: 0 });
      expect(statusAndError(await call('GET', `${ROOT}?schema=nope`))).to.deep.equal([404, 'schema not found']);
    });

    it('is searched in the texts of every type, except in fields that the caller may not see', async () => {
      const [one, two] = [
        await create({ data: { title: 'A quokka smiles', code: 'q1' } }),
        await create({ schema_name: 'page', data: { body: 'Two Quokkas, one quokka' } }),
      ];
      const search = async (q: string, by = call) =>
        (await list(`?q=${encodeURIComponent(q)}`, by)).data.map(({ id }) => id);
      expect(await search('quokka')).to.deep.equal([two.id, one.id]);
      expect(await list('?q=quokka&schema=article&status=draft')).to.deep.include({ total: 1 });
      expect(await search('quokka', as('reader'))).to.deep.equal([]);
      expect(await search('quokka', as('acme'))).to.deep.equal([]);
      expect((await search(' ')).length).to.be.greaterThan(2);
      expect(await search("'; drop table x; --")).to.deep.equal([]);
      for (const { id } of [one, two]) await call('DELETE', `${ROOT}/${id}`);
    });

    it('names the resolved locale of its entries if the request asks for one, as single reads do', async () => {
      for (const path of ['', `/${pageOne.id}`, `/slug/${pageOne.slug ?? ''}`]) {
        const shown = async (query: string, headers = {}) => {
          const reply = await call('GET', `${ROOT}${path}${query}`, undefined, headers);
          expect(reply.status, reply.text).to.equal(200);
          expect(reply.headers['vary']).to.include('Accept-Language');
          return path === '' ? reply.json<Page>().data[0]?.['resolved_locale'] : reply.json<Entry>()['resolved_locale'];
        };
        expect([
          await shown(''),
          await shown('?locale=fr-CA'),
          await shown('', { 'accept-language': 'de' }),
        ]).to.deep.equal([undefined, 'en', 'en']);
        expect(statusAndError(await call('GET', `${ROOT}${path}?locale=!`))).to.deep.equal([
          400,
          'invalid query parameter: locale',
        ]);
      }
    });

    it('contains no entry of another tenant', async () => {
      const ids = (await list('', as('acme'))).data.map(({ schema_name }) => schema_name);
      expect(new Set(ids)).to.deep.equal(new Set(['article']));
      expect((await list('', as('acme'))).data.some(({ id }) => mine.includes(id))).to.equal(false);
    });

    it('contains soft-deleted entries with the time of the deletion, for admin roles that request them', async () => {
      const gone = await titled('soon gone');
      await call('DELETE', `${ROOT}/${gone.id}`);
      const [newest] = (await list('?status=deleted&schema=article', admin)).data;
      expect(newest).to.include({ id: gone.id, title: 'soon gone' });
      expect(newest?.['deleted_at']).to.match(/Z$/);
      expect(statusAndError(await call('GET', `${ROOT}?status=deleted`))).to.deep.equal([
        403,
        'insufficient permissions',
      ]);
    });
  });

  describe('access', () => {
    it('requires a session: API keys and requests without a credential are refused', async () => {
      const key = caller(() => served().admin.url, { 'x-api-key': 'key' });
      expect(statusAndError(await key('GET', ROOT))).to.deep.equal([403, 'This route needs a signed-in session.']);
      expect((await caller(() => served().admin.url)('GET', ROOT)).status).to.equal(401);
    });

    it('follows the access rules: hidden types are not listed, and masked fields and titles made from them are left out', async () => {
      const entry = await titled('Masked Title');
      const reader = as('reader');
      expect(resultOf<Entry>(await reader('GET', `${ROOT}/${entry.id}`))).to.deep.include({
        title: null,
        data: { code: null, views: null },
      });
      const { data } = (await reader('GET', `${ROOT}?limit=200`)).json<Page>();
      expect(new Set(data.map(({ schema_name }) => schema_name))).to.deep.equal(new Set(['article']));
      expect(JSON.stringify(data)).to.not.include('Masked Title');
      expect(statusAndError(await reader('GET', `${ROOT}?schema=page`))).to.deep.equal([403, 'permission denied']);
      expect(statusAndError(await reader('PUT', `${ROOT}/${entry.id}`, { data: {} }))).to.deep.equal([
        403,
        'insufficient permissions',
      ]);
      expect(statusAndError(await reader('PUT', `${ROOT}/${v7()}`, { data: {} }))).to.deep.equal([
        403,
        'insufficient permissions',
      ]);
      expect(statusAndError(await reader('POST', ROOT, { schema_name: 'article', data: {} }))).to.deep.equal([
        403,
        'insufficient permissions',
      ]);
    });

    it('allows writes to types that are read-only on the Content API', async () => {
      const page = await create({ schema_name: 'page', data: { name: 'console' } });
      expect(resultOf<Entry>(await call('PUT', `${ROOT}/${page.id}`, { data: { name: 'written' } })).title).to.equal(
        'written',
      );
    });

    it('requires the right to publish for an entry that is created as published', async () => {
      const decide = compileAccessRules([
        { role: 'editor', schema_name: '*', actions: ['read', 'create'], field_mask: ['views'] },
      ]);
      const dependencies = { ...content.dependencies(), accessRules: { decide } };
      const typeById = () => Promise.resolve(undefined);
      const narrow = await serve(
        adminContentRoutes(
          createAdminContentDependencies(
            { database: content.database(), replica: undefined, entitlements: FREE_TIER },
            { typeById, entryDependencies: dependencies },
          ),
        ),
        {},
        {
          authenticate: ({ bearer }) => PRINCIPALS[bearer ?? ''],
          progress: { waitFor: async () => (await content.project(), true) },
        },
      );
      const by = caller(() => `http://127.0.0.1:${narrow.admin.port}`, { authorization: 'Bearer editor' });
      expect((await by('POST', ROOT, { schema_name: article.name, data: {} })).status).to.equal(201);
      expect(
        statusAndError(await by('POST', ROOT, { schema_name: article.name, data: {}, status: 'published' })),
      ).to.deep.equal([403, 'permission denied']);
      expect(statusAndError(await by('POST', ROOT, { schema_name: article.name, data: { views: 1 } }))).to.deep.equal([
        403,
        'permission denied',
      ]);
      await Promise.all([narrow.admin.close({ deadlineMs: 500 }), narrow.content.close({ deadlineMs: 500 })]);
    });
  });
});
