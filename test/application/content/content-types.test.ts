import { expect } from 'chai';
import { deleteContentType } from '../../../application/content/delete-content-type.ts';
import { previewContentType } from '../../../application/content/preview-content-type.ts';
import { saveContentType } from '../../../application/content/save-content-type.ts';
import { fieldAt } from '../../../domain/content/content-type.ts';
import type { AppError } from '../../../domain/errors.ts';
import { createSchemaWorkbench } from '../../../projections/content/content-types/workbench.ts';
import { contentTypeTables } from '../../../projections/content/content-types/tables.ts';
import { applyContentTypeEvent } from '../../../projections/content/content-types/projector.ts';
import { recreateViews } from '../../../projections/content/content-types/views.ts';
import { contentProjection } from '../../../projections/content/projection.ts';
import { contentTypeWorld, contextOf } from '../../support/content-types.ts';
import { useDatabase } from '../../support/database.ts';

const text = (name: string, more: object = {}) => ({ name, field_type: 'text', ...more });

async function refusalOf(work: Promise<unknown>): Promise<Pick<AppError, 'status' | 'code' | 'message' | 'headers'>> {
  try {
    await work;
  } catch (error) {
    const { status, code, message, headers } = error as AppError;
    return { status, code, message, headers };
  }
  throw new Error('was not refused');
}

describe('saving content types', () => {
  const database = useDatabase();
  let world: Awaited<ReturnType<typeof contentTypeWorld>>;

  before(async () => {
    world = await contentTypeWorld(database.db());
  });
  afterEach(async () => {
    for (const tenant of ['default', 'other']) {
      for (const { name } of await world.queries.list(tenant)) await remove(name, 'hard', tenant).catch(() => undefined);
      for (const { name } of await world.queries.list(tenant)) await remove(name, 'hard', tenant);
    }
    await world.project();
  });

  async function post(input: unknown, tenant = 'default') {
    const saved = await saveContentType({ verb: 'post', input }, contextOf(tenant), world.dependencies);
    await world.project();
    return saved;
  }
  async function put(name: string, input: unknown, tenant = 'default') {
    const saved = await saveContentType({ verb: 'put', name, input }, contextOf(tenant), world.dependencies);
    await world.project();
    return saved;
  }
  async function remove(name: string, content: 'hard' | 'soft' = 'hard', tenant = 'default') {
    const position = await deleteContentType({ name, content }, contextOf(tenant), world.dependencies);
    await world.project();
    return position;
  }
  async function insert(table: string, values: Record<string, unknown>, tenant = 'default'): Promise<void> {
    await database.db().query(
      `insert into rm_content.${table} select * from json_populate_record(null::rm_content.${table}, $1)`,
      [JSON.stringify({ id: crypto.randomUUID(), tenant_id: tenant, _version: 1, _status: 'published', _created_at: '2025-01-01T00:00:00Z', _updated_at: '2025-01-01T00:00:00Z', _created_by: {}, _updated_by: {}, _position: '0'.repeat(20), ...values })],
    );
  }
  const rows = (sql: string) => database.db().query(sql);
  const columnsOf = async (table: string) => (await database.db().query<{ column_name: string }>(`select column_name from information_schema.columns where table_schema = 'rm_content' and table_name = $1`, [table])).map((row) => row.column_name);

  it('creates the type, its table and its view', async () => {
    const { definition } = await post({ name: 'article', fields: [text('title', { required: true })] });
    expect(definition).to.include({ name: 'article', display_name: 'article' });
    await insert('article', { title: 'A' });
    const [row] = await rows('select tenant_id, status, version, title from content.article');
    expect(row).to.deep.equal({ tenant_id: 'default', status: 'published', version: 1, title: 'A' });
    expect(await world.queries.stats('default', 'article')).to.deep.equal({ rows: 1, last_updated: '2025-01-01T00:00:00.000Z' });
  });

  it('appends one event that carries definition and statements', async () => {
    await post({ name: 'article', fields: [text('title')] });
    const stored = await world.queries.one('default', 'article');
    const events = [];
    for await (const event of world.eventStore.readStream(`content_type-default.${stored?.id ?? ''}`)) events.push(event);
    expect(events.map(({ type, data }) => [type, Object.keys(data)])).to.deep.equal([['ContentTypeSaved', ['type_id', 'definition', 'statements', 'canceled', 'retained']]]);
  });

  it('adds a field at once; entries there are have no value', async () => {
    await post({ name: 'article', fields: [text('title')] });
    await insert('article', { title: 'A' });
    await put('article', { fields: [text('title'), { name: 'views', field_type: 'integer' }] });
    expect(await rows('select title, views from content.article')).to.deep.equal([{ title: 'A', views: null }]);
  });

  it('saves over a type by POST of its name, and keeps ids', async () => {
    await post({ name: 'article', fields: [text('title')] });
    const before = await world.queries.one('default', 'article');
    await post({ name: 'article', fields: [text('body'), text('title')] });
    const after = await world.queries.one('default', 'article');
    expect([after?.id, after?.revision]).to.deep.equal([before?.id, 1]);
    expect(after?.definition.fields.find(({ name }) => name === 'title')?.id).to.equal(before?.definition.fields[0]?.id);
  });

  it('refuses a bad definition by the verb: POST 422, PUT 400, a missing type 404, transports 422', async () => {
    await post({ name: 'article' });
    const bad = { name: 'article', fields: [text('Title')] };
    const reason = 'field name "Title" must start with a letter and hold at most 63 lower-case letters, digits or _';
    expect(await refusalOf(post(bad))).to.include({ status: 422, message: `invalid schema: ${reason}` });
    expect(await refusalOf(put('article', bad))).to.include({ status: 400, message: reason });
    expect(await refusalOf(put('ghost', bad))).to.include({ status: 404, message: 'schema not found' });
    expect(await refusalOf(put('No Name', bad))).to.include({ status: 404, message: 'schema not found' });
    expect(await refusalOf(put('article', { transports: { x: 'r' } }))).to.include({ status: 422, message: 'invalid schema: unknown transport "x"' });
    expect(await refusalOf(post(null))).to.include({ status: 422, message: 'invalid schema: name is required' });
  });

  it('converts stored values, or refuses with 422 and changes nothing', async () => {
    await post({ name: 'article', fields: [text('views', { indexed: true })] });
    await insert('article', { views: '12' });
    await put('article', { fields: [{ name: 'views', field_type: 'integer', indexed: true }] });
    expect(await rows('select views from content.article')).to.deep.equal([{ views: 12 }]);
    await put('article', { fields: [text('views')] });
    await insert('article', { views: 'many' });
    expect(await refusalOf(put('article', { fields: [{ name: 'views', field_type: 'number' }] }))).to.include({ status: 422, message: 'schema migration failed' });
    expect(await rows('select views from content.article order by views')).to.deep.equal([{ views: '12' }, { views: 'many' }]);
    expect((await world.queries.one('default', 'article'))?.definition.fields[0]?.field_type).to.equal('text');
  });

  it('a value that slips in between the try-out and the event stops nothing: it has no value in the new column', async () => {
    await post({ name: 'article', fields: [text('views')] });
    await saveContentType({ verb: 'put', name: 'article', input: { fields: [{ name: 'views', field_type: 'number' }] } }, contextOf(), world.dependencies);
    await insert('article', { views: 'many' });
    await world.project();
    expect(await rows('select views from content.article')).to.deep.equal([{ views: null }]);
  });

  it('refuses to require what entries lack, and unique over duplicates', async () => {
    await post({ name: 'article', fields: [text('title'), text('sku')] });
    await insert('article', { title: null, sku: 'a' });
    await insert('article', { title: 'B', sku: 'a' });
    expect(await refusalOf(put('article', { fields: [text('title', { required: true }), text('sku')] }))).to.include({ status: 422, message: 'schema migration failed' });
    expect(await refusalOf(put('article', { fields: [text('title'), text('sku', { unique: true })] }))).to.include({ status: 422, message: 'schema migration failed' });
    await put('article', { fields: [text('title', { required: true, default: '-' }), text('sku')] });
  });

  it('claims the values of a field that becomes unique, anew in another type, and sets them free when it is unique no longer', async () => {
    await post({ name: 'article', fields: [text('sku')] });
    await insert('article', { sku: '01' });
    await insert('article', { sku: '2' });
    await insert('article', { sku: null });
    const values = () => [...world.claims.held.keys()].map((key) => JSON.parse(key) as { 1: string; 2: string }).filter((claim) => claim[1].startsWith('entry/')).map((claim) => claim[2]);
    await put('article', { fields: [text('sku', { unique: true })] });
    expect(values()).to.deep.equal(['01', '2']);
    await put('article', { fields: [{ name: 'sku', field_type: 'integer', unique: true }] });
    expect(values()).to.have.members(['1', '2']);
    await put('article', { fields: [{ name: 'sku', field_type: 'integer' }] });
    expect(values()).to.deep.equal([]);
  });

  it('claims the values of a unique field that comes back as they are then: those of entries that went meanwhile are free', async () => {
    const sku = { fields: [text('sku', { unique: true })] };
    await post({ name: 'article', ...sku });
    const [gone, kept] = [crypto.randomUUID(), crypto.randomUUID()];
    await insert('article', { id: gone, sku: 'gone' });
    await insert('article', { id: kept, sku: 'kept' });
    const type = await world.queries.one('default', 'article');
    const scope = `entry/${type!.id}/${type!.definition.fields[0]!.id}`;
    for (const [id, value] of [[gone, 'gone'], [kept, 'kept']] as const) await world.claims.claim(`entry-default.${id}`, [{ tenant: 'default', scope, value }]);
    const held = () => [...world.claims.held].filter(([key]) => key.includes(scope)).map(([key, owner]) => [(JSON.parse(key) as string[])[2], owner]);
    await put('article', { fields: [] });
    await database.db().query('delete from rm_content.article where id = $1', [gone]);
    await put('article', sku);
    expect(held()).to.deep.equal([['kept', `entry-default.${kept}`]]);
    // A command that began before: its claim comes when nobody asks for it any more.
    await put('article', { fields: [text('sku')] });
    await world.claims.claim(`entry-default.${gone}`, [{ tenant: 'default', scope, value: 'late' }]);
    await put('article', sku);
    expect(held()).to.deep.equal([['kept', `entry-default.${kept}`]]);
  });

  it('refuses unique where converting makes two values one', async () => {
    await post({ name: 'article', fields: [text('sku')] });
    await insert('article', { sku: '1' });
    await insert('article', { sku: '01' });
    await put('article', { fields: [text('sku', { unique: true })] });
    expect(await refusalOf(put('article', { fields: [{ name: 'sku', field_type: 'integer', unique: true }] }))).to.include({ status: 422, message: 'schema migration failed' });
  });

  it('queues a removal, shows it in the history, and cancels it when the field is used again with its values', async () => {
    await post({ name: 'article', fields: [text('title')] });
    await insert('article', { title: 'kept' });
    await put('article', { fields: [] });
    expect(await columnsOf('article')).to.include('title');
    const type = await world.queries.one('default', 'article');
    const queued = await world.queries.history('default', type?.id ?? '');
    expect(queued.map(({ state, destructive }) => [state, destructive])).to.deep.equal([['pending', true], ['applied', false]]);
    expect(queued[0]).to.include({ description: 'Drop column title', applied_at: null });
    await put('article', { fields: [text('title')] });
    expect((await world.queries.history('default', type?.id ?? '')).map(({ state }) => state)).to.deep.equal(['canceled', 'applied']);
    expect(await rows('select title from content.article')).to.deep.equal([{ title: 'kept' }]);
    const again = await world.queries.one('default', 'article');
    expect(again?.definition.fields[0]?.id).to.equal(type?.fieldNames[0]?.names['title']);
  });

  it('knows which field an old event meant', async () => {
    await post({ name: 'article', fields: [text('title')] });
    await put('article', { fields: [text('body')] });
    const type = await world.queries.one('default', 'article');
    if (!type) throw new Error('no type');
    expect(fieldAt(type, 0, 'title')).to.equal(undefined);
    expect(fieldAt(type, 0, 'body')).to.equal(undefined);
    expect(fieldAt(type, 1, 'body')?.name).to.equal('body');
    expect(fieldAt(type, 7, 'body')?.name).to.equal('body');
    expect(fieldAt(type, 1, '__proto__')).to.equal(undefined);
  });

  it('previews a save without doing it, under the name in the path', async () => {
    await post({ name: 'article', fields: [text('title')] });
    const statements = await previewContentType({ name: 'article', input: { name: 'other', fields: [text('body')] } }, contextOf(), world.dependencies.workbench);
    expect(statements.map(({ description, destructive }) => [description, destructive])).to.deep.equal([['Add column body (text)', undefined], ['Drop column title', true]]);
    const creation = await previewContentType({ name: 'fresh', input: { fields: [] } }, contextOf(), world.dependencies.workbench);
    expect(creation[0]?.sql).to.match(/^create table if not exists "rm_content"."fresh"/);
    expect(await columnsOf('fresh')).to.deep.equal([]);
    expect(await refusalOf(previewContentType({ name: 'x-y', input: {} }, contextOf(), world.dependencies.workbench))).to.include({ status: 422 });
  });

  describe('on a table that tenants share', () => {
    it('each tenant sees its own type and its own entries', async () => {
      await post({ name: 'article', fields: [text('title')] });
      await post({ name: 'article', fields: [text('title', { required: true }), text('extra')] }, 'other');
      await insert('article', { title: 'mine' });
      expect(await world.queries.stats('other', 'article')).to.include({ rows: 0 });
      expect((await world.queries.one('default', 'article'))?.definition.fields).to.have.length(1);
      expect((await world.queries.one('other', 'article'))?.definition.fields).to.have.length(2);
    });

    it('a field that is stored differently there is refused with 409', async () => {
      await post({ name: 'article', fields: [text('title')] });
      expect(await refusalOf(post({ name: 'article', fields: [{ name: 'title', field_type: 'integer' }] }, 'other'))).to.include({
        status: 409, message: 'another schema shares this table and defines it differently: field "title" is text there and int8 here',
      });
    });

    it('deleting one tenant\'s type leaves the other\'s entries and columns', async () => {
      await post({ name: 'article', fields: [text('title'), text('mine')] });
      await post({ name: 'article', fields: [text('title'), text('theirs')] }, 'other');
      await insert('article', { title: 'A', mine: 'x' });
      await insert('article', { title: 'B', theirs: 'y' }, 'other');
      await remove('article');
      expect(await rows('select title, theirs from content.article')).to.deep.equal([{ title: 'B', theirs: 'y' }]);
      expect(await columnsOf('article')).not.to.include('mine');
    });
  });

  describe('deleting', () => {
    it('takes table and view; a missing type is no error; the name is free again', async () => {
      await post({ name: 'article', fields: [text('title')] });
      expect(await remove('article')).to.be.a('string');
      expect(await columnsOf('article')).to.deep.equal([]);
      expect(await remove('article')).to.equal(undefined);
      expect(await remove('No Name')).to.equal(undefined);
      const first = await post({ name: 'article', fields: [{ name: 'title', field_type: 'json' }] });
      expect(first.definition.fields[0]?.field_type).to.equal('json');
    });

    it('is refused while another type relates to it', async () => {
      await post({ name: 'person' });
      await post({ name: 'article', fields: [{ name: 'author', field_type: 'relation', relation_to: 'person' }] });
      expect(await refusalOf(remove('person'))).to.include({ status: 409, message: 'content type is referenced by article.author' });
    });

    it('softly keeps the entries, hidden, also from a new type of that name', async () => {
      await post({ name: 'article', fields: [text('title')] });
      await insert('article', { title: 'kept' });
      await remove('article', 'soft');
      expect(await world.queries.one('default', 'article')).to.equal(undefined);
      await post({ name: 'article', fields: [text('title')] });
      expect(await world.queries.stats('default', 'article')).to.include({ rows: 0 });
      expect(await rows('select title from rm_content.article')).to.deep.equal([]);
    });
  });

  describe('with another process at it', () => {
    it('answers 503 with Retry-After at once, for that name only', async () => {
      const elsewhere = createSchemaWorkbench({ database: database.db() });
      await elsewhere.exclusively({ tenant: 'default', names: ['article'], tenantTypes: 'shared' }, async () => {
        expect(await refusalOf(post({ name: 'article' }))).to.deep.equal({
          status: 503, code: 'ddl_in_progress', message: 'another instance is applying DDL for this schema; retry in 1s', headers: { 'Retry-After': '1' },
        });
        await post({ name: 'person' });
      });
      await post({ name: 'article' });
    });

    it('answers 503 when the table is not to be had in time', async () => {
      await post({ name: 'article' });
      await database.db().transaction(async (tx) => {
        await tx.query('lock table rm_content.article in access share mode');
        expect(await refusalOf(put('article', { fields: [text('title')] }))).to.include({ status: 503, code: 'ddl_in_progress' });
      });
    });

    it('saves of this process wait for each other, and all succeed', async () => {
      await Promise.all(Array.from({ length: 8 }, (_, index) => post({ name: index % 2 === 0 ? 'article' : 'person', fields: [text(`f${index}`)] })));
      expect((await world.queries.one('default', 'article'))?.revision).to.equal(3);
    });
  });

  it('the catalogue serves a save as soon as the read model has it, and the old one until then', async () => {
    await post({ name: 'article', fields: [] });
    const before = await world.catalogue.get('default', 'article');
    expect(await world.catalogue.get('default', 'article')).to.equal(before);
    await saveContentType({ verb: 'put', name: 'article', input: { fields: [text('title')] } }, contextOf(), world.dependencies);
    expect((await world.catalogue.get('default', 'article'))?.revision).to.equal(0);
    await world.project();
    expect((await world.catalogue.get('default', 'article'))?.revision).to.equal(1);
    expect(await world.catalogue.get('other', 'article')).to.equal(undefined);
    expect(await world.catalogue.get('default', '../article')).to.equal(undefined);
    await remove('article');
    expect(await world.catalogue.get('default', 'article')).to.equal(undefined);
  });

  it('a rebuild into another schema gives the same tables, and the views follow the swap', async () => {
    await post({ name: 'article', fields: [text('a'), { name: 'tags', field_type: 'relation', relation_type: 'many_to_many', relation_to: 'article' }], with_draft_publish: true });
    await put('article', { fields: [{ name: 'a', field_type: 'integer', indexed: true }, text('b')] });
    await post({ name: 'article', fields: [text('c', { unique: true })] }, 'other');
    await post({ name: 'gone', fields: [] });
    await remove('gone');
    const target = { schema: '"rm_content_next"' };
    const shape = `select table_name, column_name, ordinal_position, udt_name from information_schema.columns where table_schema = $1 order by 1, 3`;
    await database.db().transaction(async (tx) => {
      await tx.query('create schema rm_content_next');
      await contentProjection.create(tx, target);
      for await (const event of world.eventStore.readAll()) await applyContentTypeEvent(tx, target, event);
      expect(await tx.query('select column_name, table_name, udt_name from information_schema.columns where table_schema = $1 order by 1, 2', ['rm_content_next']))
        .to.deep.equal(await tx.query('select column_name, table_name, udt_name from information_schema.columns where table_schema = $1 order by 1, 2', ['rm_content']));
      expect(await contentTypeTables(tx, target)).to.deep.equal(await contentTypeTables(tx, world.live));
      for (const { table } of await contentTypeTables(tx, target)) {
        const digest = (schema: string) => tx.query(`select t::text from ${schema}."${table}" t order by 1`);
        expect(await digest('rm_content_next'), table).to.deep.equal(await digest('rm_content'));
      }
      expect(await tx.query(shape, ['content'])).not.to.have.length(0);
      await tx.query('alter schema rm_content rename to rm_content_old');
      await tx.query('alter schema rm_content_next rename to rm_content');
      await recreateViews(tx);
      await tx.query('drop schema rm_content_old cascade');
    });
    await insert('article', { a: 5, b: 'B', tags: [] });
    expect(await rows('select a, b from content.article')).to.deep.equal([{ a: 5, b: 'B' }]);
  });

  it('a view of the data team on ours lives through a new field', async () => {
    await post({ name: 'article', fields: [text('title')] });
    await rows('create view public.theirs as select title from content.article');
    await put('article', { fields: [text('before'), text('title')] });
    expect(await rows('select * from public.theirs')).to.deep.equal([]);
  });
});
