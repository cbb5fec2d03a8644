import { expect } from 'chai';
import { entryRoutes } from '../../../api/content/entry-routes.ts';
import { transitionEntry } from '../../../application/content/transition-entry.ts';
import { undeleteEntry } from '../../../application/content/undelete-entry.ts';
import type { ContentType } from '../../../domain/content/content-type.ts';
import { ENTRY_TRANSITIONS } from '../../../domain/content/entry.ts';
import { hasCode } from '../../../domain/errors.ts';
import type { Principal } from '../../../domain/identity/principal.ts';
import { testContext, useContent } from '../../support/content.ts';
import { caller, resultOf, statusAndError } from '../../support/http.ts';
import { rejectionOf } from '../../support/rejection.ts';
import { type EntryAnswer as Entry, apiKey, useServedContent } from '../../support/serve-content.ts';

const PRINCIPALS: Readonly<Record<string, Principal>> = {
  editor: apiKey(),
  admin: apiKey({ roles: ['admin'] }),
  owner: apiKey({ roles: ['super_admin'] }),
  visitor: apiKey({ roles: ['visitor'] }),
};

describe('entry lifecycle over HTTP', () => {
  const content = useContent();
  const served = useServedContent({
    content,
    routes: () => entryRoutes(content.dependencies()),
    principals: PRINCIPALS,
  });
  let note: ContentType;
  const as = (name: string) => caller(() => served().content.url, { 'x-api-key': name });
  const [call, admin, owner] = [as('editor'), as('admin'), as('owner')];

  before(async () => {
    await content.save({
      name: 'article',
      with_draft_publish: true,
      with_soft_delete: true,
      fields: [
        { name: 'title', field_type: 'text' },
        { name: 'code', field_type: 'text', unique: true },
      ],
    });
    note = await content.save({
      name: 'note',
      with_soft_delete: true,
      fields: [
        { name: 'about', field_type: 'relation', relation_type: 'belongs_to', relation_to: 'article' },
        { name: 'must', field_type: 'relation', relation_type: 'belongs_to', relation_to: 'page', required: true },
      ],
    });
    await content.save({ name: 'page', with_draft_publish: true, fields: [{ name: 'title', field_type: 'text' }] });
  });

  async function create(
    data: Record<string, unknown>,
    schema = 'article',
  ): Promise<{ readonly entry: Entry; readonly path: string }> {
    const reply = await call('POST', `/api/v1/content/${schema}`, { data });
    expect(reply.status, reply.text).to.equal(201);
    const entry = reply.json<Entry>();
    return { entry, path: `/api/v1/content/${schema}/${entry.id}` };
  }

  for (const { from, way, allowed } of [
    { from: 'draft', way: [], allowed: { publish: 'published', archive: 'archived' } },
    { from: 'published', way: ['publish'], allowed: { unpublish: 'draft', archive: 'archived' } },
    { from: 'archived', way: ['archive'], allowed: { unarchive: 'draft' } },
  ] as const) {
    it(`allows the transitions that the status ${from} permits, and answers 409 to the others`, async () => {
      for (const transition of ENTRY_TRANSITIONS) {
        const { path } = await create({ title: from });
        for (const step of way) resultOf<Entry>(await call('PUT', `${path}/${step}`));
        const to = (allowed as Partial<Record<string, string>>)[transition];
        const reply = call('PUT', `${path}/${transition}`);
        if (to === undefined)
          expect(statusAndError(await reply), transition).to.deep.equal([409, 'invalid status transition']);
        else {
          const moved = resultOf<Entry>(await reply);
          expect(moved.status).to.equal(to);
          expect(moved['published_at'] !== null).to.equal(to === 'published');
          expect(resultOf<Entry>(await call('GET', path))).to.deep.equal(moved);
        }
      }
    });
  }

  it('answers 409 to every transition in a type without drafts', async () => {
    const { entry: page } = await create({ title: 'p' }, 'page');
    const { path } = await create({ must: page.id }, 'note');
    for (const transition of ENTRY_TRANSITIONS)
      expect(statusAndError(await call('PUT', `${path}/${transition}`))).to.deep.equal([
        409,
        'invalid status transition',
      ]);
  });

  it('leaves archived entries out of lists unless a filter names the status', async () => {
    const { entry, path } = await create({ title: 'arch', code: 'arch' });
    resultOf<Entry>(await call('PUT', `${path}/archive`));
    const ids = async (query: string) =>
      (await call('GET', `/api/v1/content/article?filters[code]=arch${query}`)).json<Entry[]>().map(({ id }) => id);
    expect(await ids('')).to.deep.equal([]);
    expect(await ids('&filters[_status]=archived')).to.deep.equal([entry.id]);
    expect(resultOf<Entry>(await call('GET', path)).status).to.equal('archived');
  });

  it('keeps a soft-deleted entry, lists it for admin roles and restores it unchanged', async () => {
    const { entry, path } = await create({ title: 'kept', code: 'kept' });
    const before = resultOf<Entry>(await call('PUT', `${path}/publish`));
    expect((await call('DELETE', path)).status).to.equal(204);
    expect(statusAndError(await call('GET', path))).to.deep.equal([404, 'content not found']);
    expect(statusAndError(await call('PUT', path, { data: { title: 'x' } }))).to.deep.equal([404, 'content not found']);
    for (const who of [admin, owner]) {
      for (const list of ['article?', 'article/cursor?']) {
        const reply = await who('GET', `/api/v1/content/${list}filters[_deleted]=true&filters[code]=kept&count=true`);
        const listed = list.includes('cursor') ? reply.json<{ data: Entry[] }>().data : reply.json<Entry[]>();
        expect(listed.map(({ id }) => id)).to.deep.equal([entry.id]);
        expect(listed[0]).to.include({ status: 'published', version: 3 });
        expect(listed[0]?.['deleted_at']).to.match(/^\d{4}-.*Z$/);
        expect(reply.headers['x-total-count']).to.equal('1');
      }
      expect(
        (await who('GET', '/api/v1/content/article?filters[_deleted]=false&filters[code]=kept')).json(),
      ).to.deep.equal([]);
    }
    const back = resultOf<Entry>(await call('PUT', `${path}/undelete`));
    expect(back).to.deep.equal({ ...before, version: 4, updated_at: back['updated_at'] });
    expect(resultOf<Entry>(await call('GET', path))).to.deep.equal(back);
    expect(
      (await admin('GET', '/api/v1/content/article?filters[_deleted]=true&filters[code]=kept')).json(),
    ).to.deep.equal([]);
    expect(resultOf<Entry>(await call('PUT', path, { data: { title: 'lives on' } })).version).to.equal(5);
  });

  it('restores an entry whose row has been purged', async () => {
    const { path } = await create({ title: 'purged', code: 'purged' });
    const before = resultOf<Entry>(await call('GET', path));
    await call('DELETE', path);
    await content.purge('article');
    const back = resultOf<Entry>(await call('PUT', `${path}/undelete`));
    expect(back).to.deep.equal({ ...before, version: 3, updated_at: back['updated_at'] });
    expect(resultOf<Entry>(await call('GET', path))).to.deep.equal(back);
  });

  it('answers 400 to filters[_deleted] without an admin role, with a value other than true or false, and together with as_of', async () => {
    expect(statusAndError(await call('GET', '/api/v1/content/article?filters[_deleted]=true'))).to.deep.equal([
      400,
      'invalid query parameter: filters[_deleted]',
    ]);
    for (const filter of [
      'filters[_deleted]=1',
      'filters[_deleted][$eq]=true',
      'filters[_deleted]=true&as_of=2026-01-01T00:00:00Z',
    ]) {
      expect(statusAndError(await admin('GET', `/api/v1/content/article?${filter}`))[0], filter).to.equal(400);
    }
  });

  it('frees the unique values of a soft-deleted entry, and answers 409 to a restore when another entry holds one', async () => {
    const { path } = await create({ code: 'once' });
    await call('DELETE', path);
    const { path: other } = await create({ code: 'once' });
    const reply = await call('PUT', `${path}/undelete`);
    expect([reply.status, reply.json()]).to.deep.equal([
      409,
      {
        error: 'unique value already held',
        code: 'unique_value_held',
        fields: [{ field: 'code', message: 'unique value already held' }],
      },
    ]);
    resultOf<Entry>(await call('PUT', other, { data: { code: 'twice' } }));
    resultOf<Entry>(await call('PUT', `${path}/undelete`));
    expect(statusAndError(await call('PUT', other, { data: { code: 'once' } }))).to.deep.equal([
      409,
      'unique value already held',
    ]);
  });

  it('answers 409 to restoring an entry that is not deleted, and 404 if it was deleted permanently or never existed', async () => {
    const { path } = await create({});
    expect(statusAndError(await call('PUT', `${path}/undelete`))).to.deep.equal([409, 'invalid status transition']);
    const { path: page } = await create({ title: 'gone' }, 'page');
    await call('DELETE', page);
    expect(statusAndError(await call('PUT', `${page}/undelete`))).to.deep.equal([404, 'content not found']);
    for (const id of ['01890000-0000-7000-8000-0000000000aa', 'nonsense']) {
      expect(statusAndError(await call('PUT', `/api/v1/content/article/${id}/undelete`))).to.deep.equal([
        404,
        'content not found',
      ]);
    }
  });

  it('clears an optional relation to a deleted entry on restore, and refuses the restore if the relation is required', async () => {
    const { entry: article, path: articlePath } = await create({ title: 'a' });
    const { entry: page, path: pagePath } = await create({ title: 'p' }, 'page');
    const { path } = await create({ about: article.id, must: page.id }, 'note');
    await call('DELETE', path);
    expect((await call('DELETE', articlePath)).status).to.equal(204);
    expect(resultOf<Entry>(await call('PUT', `${path}/undelete`)).data).to.deep.equal({
      about_id: null,
      must_id: page.id,
    });
    await call('DELETE', path);
    expect((await call('DELETE', pagePath)).status).to.equal(204);
    const reply = await call('PUT', `${path}/undelete`);
    expect(statusAndError(reply)).to.deep.equal([422, `related entry not found: ${page.id}`]);
  });

  it('honours If-Match on every transition and on undelete', async () => {
    const { path } = await create({});
    const steps = ['archive', 'unarchive', 'publish', 'unpublish'] as const;
    for (const [index, step] of steps.entries()) {
      expect((await call('PUT', `${path}/${step}`, undefined, { 'if-match': '"99"' })).status).to.equal(412);
      const reply = await call('PUT', `${path}/${step}`, undefined, { 'if-match': `"${index + 1}"` });
      expect([reply.status, reply.headers['etag']]).to.deep.equal([200, `"${index + 2}"`]);
    }
    await call('DELETE', path);
    expect(statusAndError(await call('PUT', `${path}/undelete`, undefined, { 'if-match': '"5"' }))).to.deep.equal([
      412,
      'the entry has changed',
    ]);
    const reply = await call('PUT', `${path}/undelete`, undefined, { 'if-match': '"6"' });
    expect([reply.status, reply.headers['etag']]).to.deep.equal([200, '"7"']);
  });

  it('answers 403 to transitions and undelete from a role without write access', async () => {
    const { path } = await create({});
    for (const verb of [...ENTRY_TRANSITIONS, 'undelete'])
      expect(statusAndError(await as('visitor')('PUT', `${path}/${verb}`))).to.deep.equal([
        403,
        'insufficient permissions',
      ]);
  });

  it('answers 404 to every command on an entry of another tenant', async () => {
    const acme = await content.save(
      { name: 'note', with_soft_delete: true, with_draft_publish: true, fields: [] },
      'acme',
    );
    const { entry: page } = await create({ title: 'p' }, 'page');
    const { entry } = await create({ must: page.id }, 'note');
    expect(note.tenant).to.equal('default');
    const context = testContext({ tenant: 'acme' });
    const failed = async (run: Promise<unknown>) => hasCode(await rejectionOf(run), 'entry_not_found');
    for (const transition of ENTRY_TRANSITIONS)
      expect(
        await failed(transitionEntry({ type: acme, id: entry.id, transition }, context, content.dependencies())),
      ).to.equal(true);
    await call('DELETE', `/api/v1/content/note/${entry.id}`);
    expect(
      await failed(undeleteEntry({ type: acme, id: entry.id, fromHistory: true }, context, content.dependencies())),
    ).to.equal(true);
  });
});
