import { expect } from 'chai';
import { resultOf, statusAndError } from '../../../support/http.ts';
import { useService } from '../../../support/service.ts';

type Entry = { readonly id: string; readonly version: number; readonly slug: string | null } & Readonly<
  Record<string, unknown>
>;
type Page = { readonly data: readonly Entry[]; readonly total: number };

const ROOT = '/api/admin/content';

describe('entries of a content type that was deleted with content=soft', () => {
  const { owner, ownerContent } = useService();
  const definition = { name: 'article', with_soft_delete: true, fields: [{ name: 'title', field_type: 'text' }] };
  const create = async (title: string) => {
    return resultOf<Entry>(await owner('POST', ROOT, { schema_name: 'article', data: { title } }), 201);
  };
  const list = async (query: string) => (await owner('GET', `${ROOT}${query}`)).json<Page>();
  let entry: Entry;

  before(async () => {
    expect((await owner('POST', '/api/admin/schemas', definition)).status).to.equal(200);
    entry = await create('Kept for later');
    expect((await owner('DELETE', '/api/admin/schemas/article?content=soft')).status).to.equal(204);
  });

  it('are listed in the console for admins with the time of the deletion, and found nowhere else', async () => {
    const page = await list('?status=deleted');
    expect(page.total).to.equal(1);
    expect(page.data[0]).to.deep.include({
      id: entry.id,
      schema_name: 'article',
      title: 'Kept for later',
      slug: 'kept-for-later',
    });
    expect(page.data[0]?.['deleted_at']).to.match(/Z$/);
    expect((await list('?status=deleted&schema=article&q=later')).total).to.equal(1);
    expect((await list('')).total).to.equal(0);
    for (const path of [`${ROOT}/${entry.id}`, `${ROOT}/slug/kept-for-later`, `${ROOT}/${entry.id}/revisions`]) {
      const reply = await owner('GET', path);
      expect(statusAndError(reply), path).to.deep.equal([404, 'content not found']);
    }
    expect((await owner('PUT', `${ROOT}/${entry.id}/undelete`)).status).to.equal(404);
    expect((await owner('GET', `${ROOT}?schema=article`)).json()).to.include({ error: 'schema not found' });
  });

  it('are not entries of a new type with the same name', async () => {
    expect((await owner('POST', '/api/admin/schemas', definition)).status).to.equal(200);
    const other = await create('Kept for later');
    expect(other.slug).to.equal('kept-for-later');
    expect((await list('')).data.map(({ id }) => id)).to.deep.equal([other.id]);
    expect((await ownerContent('GET', '/api/v1/content/article?filters[_deleted]=true')).json()).to.deep.equal([]);
    expect((await list('?status=deleted')).data.map(({ id }) => id)).to.deep.equal([entry.id]);
  });
});

describe('a content type created with adopt', () => {
  const { owner } = useService();
  const definition = { name: 'article', fields: [{ name: 'title', field_type: 'text' }] };

  it('restores the entries with their slugs, which no other entry can take', async () => {
    await owner('POST', '/api/admin/schemas', definition);
    const entry = (await owner('POST', ROOT, { schema_name: 'article', data: { title: 'Adopted' } })).json<Entry>();
    await owner('DELETE', '/api/admin/schemas/article?content=soft');
    expect((await owner('POST', '/api/admin/schemas?adopt=true', definition)).status).to.equal(200);
    expect((await owner('GET', `${ROOT}/slug/adopted`)).json()).to.deep.equal(entry);
    expect(
      (await owner('POST', ROOT, { schema_name: 'article', data: { title: 'Adopted' } })).json<Entry>().slug,
    ).to.equal('adopted-2');
    const reply = await owner('POST', ROOT, { schema_name: 'article', data: {}, slug: 'adopted' });
    expect(statusAndError(reply)).to.deep.equal([409, 'unique value already held']);
  });

  it('keeps the slugs when the type is renamed', async () => {
    const renamed = await owner('PUT', '/api/admin/schemas/article/rename', { new_name: 'story' });
    expect(renamed.status, renamed.text).to.equal(200);
    expect((await owner('GET', `${ROOT}/slug/adopted?schema=story`)).json()).to.include({
      schema_name: 'story',
      slug: 'adopted',
    });
    expect((await owner('POST', ROOT, { schema_name: 'story', data: {}, slug: 'adopted' })).status).to.equal(409);
  });
});

describe('a content type whose soft delete is turned off', () => {
  const { owner } = useService();
  const definition = { name: 'article', with_soft_delete: true, fields: [{ name: 'title', field_type: 'text' }] };

  it('restores no entry until soft delete is turned on again; then it also restores purged entries', async () => {
    await owner('POST', '/api/admin/schemas', definition);
    const entry = (await owner('POST', ROOT, { schema_name: 'article', data: { title: 'Purged' } })).json<Entry>();
    expect((await owner('DELETE', `${ROOT}/${entry.id}`)).status).to.equal(204);
    expect(
      (await owner('PUT', '/api/admin/schemas/article', { ...definition, with_soft_delete: false })).status,
    ).to.equal(200);
    expect((await owner('PUT', `${ROOT}/${entry.id}/undelete`)).status).to.equal(404);
    const applied = await owner('POST', '/api/admin/schemas/article/apply-pending');
    expect(applied.status, applied.text).to.equal(200);
    expect((await owner('GET', `${ROOT}?status=deleted`)).json()).to.include({ total: 0 });
    expect((await owner('PUT', '/api/admin/schemas/article', definition)).status).to.equal(200);
    const back = await owner('PUT', `${ROOT}/${entry.id}/undelete`);
    expect(back.status, back.text).to.equal(200);
    expect((await owner('GET', `${ROOT}/${entry.id}`)).json()).to.deep.equal({
      ...entry,
      version: 3,
      updated_at: back.json<Entry>()['updated_at'],
    });
  });
});
