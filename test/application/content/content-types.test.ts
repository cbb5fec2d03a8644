import { expect } from 'chai';
import { deleteContentType } from '../../../application/content/delete-content-type.ts';
import { previewContentType } from '../../../application/content/preview-content-type.ts';
import { saveContentType } from '../../../application/content/save-content-type.ts';
import { fieldAt } from '../../../domain/content/field-history.ts';
import type { AppError } from '../../../domain/errors.ts';
import { projectContentTypeEvent } from '../../../projections/content/content-types/projector.ts';
import { createSchemaSessions } from '../../../projections/content/content-types/schema-sessions.ts';
import { contentTypeTables } from '../../../projections/content/content-types/tables.ts';
import { recreateViews } from '../../../projections/content/content-types/views.ts';
import { contentProjection } from '../../../projections/content/projection.ts';
import { claimsInMemory } from '../../support/claims-in-memory.ts';
import { LIVE, testContext, useContent } from '../../support/content.ts';
import { rejectionOf } from '../../support/rejection.ts';

const text = (name: string, more: object = {}) => ({ name, field_type: 'text', ...more });

async function refusalOf(work: Promise<unknown>): Promise<Pick<AppError, 'status' | 'code' | 'message' | 'headers'>> {
  const { status, code, message, headers } = (await rejectionOf(work)) as AppError;
  return { status, code, message, headers };
}

describe('saving content types', () => {
  const claims = claimsInMemory();
  const world = useContent({ claims, store: 'memory' });

  afterEach(async () => {
    for (const tenant of ['default', 'other']) {
      for (const { name } of await world.contentTypeQueries().list(tenant))
        await remove(name, 'hard', tenant).catch(() => undefined);
      for (const { name } of await world.contentTypeQueries().list(tenant)) await remove(name, 'hard', tenant);
    }
    await world.project();
  });

  async function post(input: unknown, tenant = 'default') {
    const saved = await saveContentType({ verb: 'post', input }, testContext({ tenant }), world.contentTypes());
    await world.project();
    return saved;
  }
  async function put(name: string, input: unknown, tenant = 'default') {
    const saved = await saveContentType({ verb: 'put', name, input }, testContext({ tenant }), world.contentTypes());
    await world.project();
    return saved;
  }
  async function remove(name: string, content: 'hard' | 'soft' = 'hard', tenant = 'default') {
    const position = await deleteContentType({ name, content }, testContext({ tenant }), world.contentTypes());
    await world.project();
    return position;
  }
  async function insert(table: string, values: Record<string, unknown>, tenant = 'default'): Promise<void> {
    await world
      .database()
      .query(`insert into rm_content.${table} select * from json_populate_record(null::rm_content.${table}, $1)`, [
        JSON.stringify({
          id: crypto.randomUUID(),
          tenant_id: tenant,
          _version: 1,
          _status: 'published',
          _created_at: '2025-01-01T00:00:00Z',
          _updated_at: '2025-01-01T00:00:00Z',
          _created_by: {},
          _updated_by: {},
          _position: '0'.repeat(20),
          ...values,
        }),
      ]);
  }
  const rows = (sql: string) => world.database().query(sql);
  const columnsOf = async (table: string) =>
    (
      await world
        .database()
        .query<{ column_name: string }>(
          `select column_name from information_schema.columns where table_schema = 'rm_content' and table_name = $1`,
          [table],
        )
    ).map((row) => row.column_name);

  it('creates the type, its table and its view', async () => {
    const { definition } = await post({ name: 'article', fields: [text('title', { required: true })] });
    expect(definition).to.include({ name: 'article', display_name: 'article' });
    await insert('article', { title: 'A' });
    const [row] = await rows('select tenant_id, status, version, title from content.article');
    expect(row).to.deep.equal({ tenant_id: 'default', status: 'published', version: 1, title: 'A' });
    expect(await world.contentTypeQueries().stats('default', 'article')).to.deep.equal({
      rows: 1,
      last_updated: '2025-01-01T00:00:00.000Z',
    });
  });

  it('appends one event that carries definition and statements', async () => {
    await post({ name: 'article', fields: [text('title')] });
    const stored = await world.contentTypeQueries().one('default', 'article');
    const events = [];
    for await (const event of world.eventStore().readStream(`content_type-default.${stored?.id ?? ''}`))
      events.push(event);
    expect(events.map(({ type, data }) => [type, Object.keys(data)])).to.deep.equal([
      ['ContentTypeSaved', ['type_id', 'definition', 'statements', 'canceled', 'retained']],
    ]);
  });

  it('adds a field at once; existing entries have no value', async () => {
    await post({ name: 'article', fields: [text('title')] });
    await insert('article', { title: 'A' });
    await put('article', { fields: [text('title'), { name: 'views', field_type: 'integer' }] });
    expect(await rows('select title, views from content.article')).to.deep.equal([{ title: 'A', views: null }]);
  });

  it('saves over an existing type by POST, and keeps the ids of its fields', async () => {
    await post({ name: 'article', fields: [text('title')] });
    const before = await world.contentTypeQueries().one('default', 'article');
    await post({ name: 'article', fields: [text('body'), text('title')] });
    const after = await world.contentTypeQueries().one('default', 'article');
    expect([after?.id, after?.revision]).to.deep.equal([before?.id, 1]);
    expect(after?.definition.fields.find(({ name }) => name === 'title')?.id).to.equal(
      before?.definition.fields[0]?.id,
    );
  });

  it('refuses an invalid definition with 422 for POST and 400 for PUT, a missing type with 404, and invalid transports with 422', async () => {
    await post({ name: 'article' });
    const bad = { name: 'article', fields: [text('Title')] };
    const reason = 'field name "Title" must start with a letter and hold at most 63 lower-case letters, digits or _';
    expect(await refusalOf(post(bad))).to.include({ status: 422, message: `invalid schema: ${reason}` });
    expect(await refusalOf(put('article', bad))).to.include({ status: 400, message: reason });
    expect(await refusalOf(put('ghost', bad))).to.include({ status: 404, message: 'schema not found' });
    expect(await refusalOf(put('No Name', bad))).to.include({ status: 404, message: 'schema not found' });
    expect(await refusalOf(put('article', { transports: { x: 'r' } }))).to.include({
      status: 422,
      message: 'invalid schema: unknown transport "x"',
    });
    expect(await refusalOf(post(null))).to.include({ status: 422, message: 'invalid schema: name is required' });
  });

  it('converts stored values, or refuses with 422 and changes nothing', async () => {
    await post({ name: 'article', fields: [text('views', { indexed: true })] });
    await insert('article', { views: '12' });
    await put('article', { fields: [{ name: 'views', field_type: 'integer', indexed: true }] });
    expect(await rows('select views from content.article')).to.deep.equal([{ views: 12 }]);
    await put('article', { fields: [text('views')] });
    await insert('article', { views: 'many' });
    expect(await refusalOf(put('article', { fields: [{ name: 'views', field_type: 'number' }] }))).to.include({
      status: 422,
      message: 'schema migration failed',
    });
    expect(await rows('select views from content.article order by views')).to.deep.equal([
      { views: '12' },
      { views: 'many' },
    ]);
    expect((await world.contentTypeQueries().one('default', 'article'))?.definition.fields[0]?.field_type).to.equal(
      'text',
    );
  });

  it('accepts a value written between the trial and the event; it becomes null in the new column if it does not convert', async () => {
    await post({ name: 'article', fields: [text('views')] });
    await saveContentType(
      { verb: 'put', name: 'article', input: { fields: [{ name: 'views', field_type: 'number' }] } },
      testContext(),
      world.contentTypes(),
    );
    await insert('article', { views: 'many' });
    await world.project();
    expect(await rows('select views from content.article')).to.deep.equal([{ views: null }]);
  });

  it('refuses to make a field required that entries lack, or unique when entries share a value', async () => {
    await post({ name: 'article', fields: [text('title'), text('sku')] });
    await insert('article', { title: null, sku: 'a' });
    await insert('article', { title: 'B', sku: 'a' });
    expect(await refusalOf(put('article', { fields: [text('title', { required: true }), text('sku')] }))).to.include({
      status: 422,
      message: 'schema migration failed',
    });
    expect(await refusalOf(put('article', { fields: [text('title'), text('sku', { unique: true })] }))).to.include({
      status: 422,
      message: 'schema migration failed',
    });
    await put('article', { fields: [text('title', { required: true, default: '-' }), text('sku')] });
  });

  it('claims the values of a field that becomes unique, claims them again after a change of type, and releases them when it is not unique any more', async () => {
    await post({ name: 'article', fields: [text('sku')] });
    await insert('article', { sku: '01' });
    await insert('article', { sku: '2' });
    await insert('article', { sku: null });
    const values = () =>
      [...claims.held.keys()]
        .map((key) => JSON.parse(key) as { 1: string; 2: string })
        .filter((claim) => claim[1].startsWith('entry/'))
        .map((claim) => claim[2]);
    await put('article', { fields: [text('sku', { unique: true })] });
    expect(values()).to.deep.equal(['01', '2']);
    await put('article', { fields: [{ name: 'sku', field_type: 'integer', unique: true }] });
    expect(values()).to.have.members(['1', '2']);
    await put('article', { fields: [{ name: 'sku', field_type: 'integer' }] });
    expect(values()).to.deep.equal([]);
  });

  it('claims the current values of a unique field that is added again, and not those of entries deleted in the meantime', async () => {
    const sku = { fields: [text('sku', { unique: true })] };
    await post({ name: 'article', ...sku });
    const [gone, kept] = [crypto.randomUUID(), crypto.randomUUID()];
    await insert('article', { id: gone, sku: 'gone' });
    await insert('article', { id: kept, sku: 'kept' });
    const type = await world.contentTypeQueries().one('default', 'article');
    const scope = `entry/${type!.id}/${type!.definition.fields[0]!.id}`;
    for (const [id, value] of [
      [gone, 'gone'],
      [kept, 'kept'],
    ] as const)
      await claims.claim({ owner: `entry-default.${id}`, claimed: [{ tenant: 'default', scope, value }] });
    const held = () =>
      [...claims.held]
        .filter(([key]) => key.includes(scope))
        .map(([key, owner]) => [(JSON.parse(key) as string[])[2], owner]);
    await put('article', { fields: [] });
    await world.database().query('delete from rm_content.article where id = $1', [gone]);
    await put('article', sku);
    expect(held()).to.deep.equal([['kept', `entry-default.${kept}`]]);
    // A command that began earlier claims a value that no entry holds any more.
    await put('article', { fields: [text('sku')] });
    await claims.claim({ owner: `entry-default.${gone}`, claimed: [{ tenant: 'default', scope, value: 'late' }] });
    await put('article', sku);
    expect(held()).to.deep.equal([['kept', `entry-default.${kept}`]]);
  });

  it('refuses a unique field when the conversion makes two values equal', async () => {
    await post({ name: 'article', fields: [text('sku')] });
    await insert('article', { sku: '1' });
    await insert('article', { sku: '01' });
    await put('article', { fields: [text('sku', { unique: true })] });
    expect(
      await refusalOf(put('article', { fields: [{ name: 'sku', field_type: 'integer', unique: true }] })),
    ).to.include({ status: 422, message: 'schema migration failed' });
  });

  it('queues a removal, lists it in the history, and cancels it when the field is used again with its values', async () => {
    await post({ name: 'article', fields: [text('title')] });
    await insert('article', { title: 'kept' });
    await put('article', { fields: [] });
    expect(await columnsOf('article')).to.include('title');
    const type = await world.contentTypeQueries().one('default', 'article');
    const queued = await world.contentTypeQueries().history('default', type?.id ?? '');
    expect(queued.map(({ state, destructive }) => [state, destructive])).to.deep.equal([
      ['pending', true],
      ['applied', false],
    ]);
    expect(queued[0]).to.include({ description: 'Drop column title', applied_at: null });
    await put('article', { fields: [text('title')] });
    expect(
      (await world.contentTypeQueries().history('default', type?.id ?? '')).map(({ state }) => state),
    ).to.deep.equal(['canceled', 'applied']);
    expect(await rows('select title from content.article')).to.deep.equal([{ title: 'kept' }]);
    const again = await world.contentTypeQueries().one('default', 'article');
    expect(again?.definition.fields[0]?.id).to.equal(type?.fieldNames[0]?.names['title']);
  });

  it('finds the field that an earlier event names', async () => {
    await post({ name: 'article', fields: [text('title')] });
    await put('article', { fields: [text('body')] });
    const type = await world.contentTypeQueries().one('default', 'article');
    if (!type) throw new Error('no type');
    expect(fieldAt(type, 0, 'title')).to.equal(undefined);
    expect(fieldAt(type, 0, 'body')).to.equal(undefined);
    expect(fieldAt(type, 1, 'body')?.name).to.equal('body');
    expect(fieldAt(type, 7, 'body')?.name).to.equal('body');
    expect(fieldAt(type, 1, '__proto__')).to.equal(undefined);
  });

  it('previews a save without saving, under the name in the path', async () => {
    await post({ name: 'article', fields: [text('title')] });
    const statements = await previewContentType(
      { name: 'article', input: { name: 'other', fields: [text('body')] } },
      testContext(),
      world.contentTypes(),
    );
    expect(statements.map(({ description, destructive }) => [description, destructive])).to.deep.equal([
      ['Add column body (text)', undefined],
      ['Drop column title', true],
    ]);
    const creation = await previewContentType(
      { name: 'fresh', input: { fields: [] } },
      testContext(),
      world.contentTypes(),
    );
    expect(creation[0]?.sql).to.match(/^create table if not exists "rm_content"."fresh"/);
    expect(await columnsOf('fresh')).to.deep.equal([]);
    expect(
      await refusalOf(previewContentType({ name: 'x-y', input: {} }, testContext(), world.contentTypes())),
    ).to.include({ status: 422 });
  });

  describe('in a table that tenants share', () => {
    it('shows each tenant its own type and its own entries', async () => {
      await post({ name: 'article', fields: [text('title')] });
      await post({ name: 'article', fields: [text('title', { required: true }), text('extra')] }, 'other');
      await insert('article', { title: 'mine' });
      expect(await world.contentTypeQueries().stats('other', 'article')).to.include({ rows: 0 });
      expect((await world.contentTypeQueries().one('default', 'article'))?.definition.fields).to.have.length(1);
      expect((await world.contentTypeQueries().one('other', 'article'))?.definition.fields).to.have.length(2);
    });

    it('refuses a field that another tenant stores differently with 409', async () => {
      await post({ name: 'article', fields: [text('title')] });
      expect(
        await refusalOf(post({ name: 'article', fields: [{ name: 'title', field_type: 'integer' }] }, 'other')),
      ).to.include({
        status: 409,
        message:
          'another schema shares this table and defines it differently: field "title" is text there and int8 here',
      });
    });

    it('keeps the entries and columns of the other tenants when one tenant deletes its type', async () => {
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
    it('removes table and view and releases the name; deleting a missing type succeeds', async () => {
      await post({ name: 'article', fields: [text('title')] });
      expect(await remove('article')).to.be.a('string');
      expect(await columnsOf('article')).to.deep.equal([]);
      expect(await remove('article')).to.equal(undefined);
      expect(await remove('No Name')).to.equal(undefined);
      const first = await post({ name: 'article', fields: [{ name: 'title', field_type: 'json' }] });
      expect(first.definition.fields[0]?.field_type).to.equal('json');
    });

    it('is refused while another type relates to the type', async () => {
      await post({ name: 'person' });
      await post({ name: 'article', fields: [{ name: 'author', field_type: 'relation', relation_to: 'person' }] });
      expect(await refusalOf(remove('person'))).to.include({
        status: 409,
        message: 'content type is referenced by article.author',
      });
    });

    it('softly keeps the entries, hidden also from a new type with the name', async () => {
      await post({ name: 'article', fields: [text('title')] });
      await insert('article', { title: 'kept' });
      await remove('article', 'soft');
      expect(await world.contentTypeQueries().one('default', 'article')).to.equal(undefined);
      await post({ name: 'article', fields: [text('title')] });
      expect(await world.contentTypeQueries().stats('default', 'article')).to.include({ rows: 0 });
      expect(await rows('select title from rm_content.article')).to.deep.equal([]);
    });
  });

  describe('while another process changes the type', () => {
    it('answers 503 with Retry-After at once, for that name only', async () => {
      const elsewhere = createSchemaSessions({ database: world.database() });
      await elsewhere.exclusively({ tenant: 'default', names: ['article'], tenantTypes: 'shared' }, async () => {
        expect(await refusalOf(post({ name: 'article' }))).to.deep.equal({
          status: 503,
          code: 'ddl_in_progress',
          message: 'another instance is applying DDL for this schema; retry in 1s',
          headers: { 'Retry-After': '1' },
        });
        await post({ name: 'person' });
      });
      await post({ name: 'article' });
    });

    it('answers 503 when the table cannot be locked in time', async () => {
      await post({ name: 'article' });
      await world.database().transaction(async (tx) => {
        await tx.query('lock table rm_content.article in access share mode');
        expect(await refusalOf(put('article', { fields: [text('title')] }))).to.include({
          status: 503,
          code: 'ddl_in_progress',
        });
      });
    });

    it('makes saves of this process wait for each other, and all succeed', async () => {
      await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          post({ name: index % 2 === 0 ? 'article' : 'person', fields: [text(`f${index}`)] }),
        ),
      );
      expect((await world.contentTypeQueries().one('default', 'article'))?.revision).to.equal(3);
    });
  });

  it('serves a saved type from the directory as soon as the read model has applied it, and the old one until then', async () => {
    await post({ name: 'article', fields: [] });
    const before = await world.types().get('default', 'article');
    expect(await world.types().get('default', 'article')).to.equal(before);
    await saveContentType(
      { verb: 'put', name: 'article', input: { fields: [text('title')] } },
      testContext(),
      world.contentTypes(),
    );
    expect((await world.types().get('default', 'article'))?.revision).to.equal(0);
    await world.project();
    expect((await world.types().get('default', 'article'))?.revision).to.equal(1);
    expect(await world.types().get('other', 'article')).to.equal(undefined);
    expect(await world.types().get('default', '../article')).to.equal(undefined);
    await remove('article');
    expect(await world.types().get('default', 'article')).to.equal(undefined);
  });

  it('gives the same tables after a rebuild into another schema, and moves the views at the swap', async () => {
    await post({
      name: 'article',
      fields: [
        text('a'),
        { name: 'tags', field_type: 'relation', relation_type: 'many_to_many', relation_to: 'article' },
      ],
      with_draft_publish: true,
    });
    await put('article', { fields: [{ name: 'a', field_type: 'integer', indexed: true }, text('b')] });
    await post({ name: 'article', fields: [text('c', { unique: true })] }, 'other');
    await post({ name: 'gone', fields: [] });
    await remove('gone');
    const target = { schema: '"rm_content_next"' };
    const shape = `select table_name, column_name, ordinal_position, udt_name from information_schema.columns where table_schema = $1 order by 1, 3`;
    await world.database().transaction(async (tx) => {
      await tx.query('create schema rm_content_next');
      await contentProjection.create(tx, target);
      for await (const event of world.eventStore().readAll()) await projectContentTypeEvent(tx, target, event);
      expect(
        await tx.query(
          'select column_name, table_name, udt_name from information_schema.columns where table_schema = $1 order by 1, 2',
          ['rm_content_next'],
        ),
      ).to.deep.equal(
        await tx.query(
          'select column_name, table_name, udt_name from information_schema.columns where table_schema = $1 order by 1, 2',
          ['rm_content'],
        ),
      );
      expect(await contentTypeTables(tx, target)).to.deep.equal(await contentTypeTables(tx, LIVE));
      for (const { table } of await contentTypeTables(tx, target)) {
        const digest = (schema: string) => tx.query(`select t::text from ${schema}."${table}" t order by 1`);
        expect(await digest('rm_content_next'), table).to.deep.equal(await digest('rm_content'));
      }
      expect(await tx.query(shape, ['content'])).not.to.have.length(0);
      await tx.query('alter schema rm_content rename to rm_content_old');
      await tx.query('alter schema rm_content_next rename to rm_content');
      await recreateViews((work) => work(tx), { schema: '"rm_content"' });
      await tx.query('drop schema rm_content_old cascade');
    });
    await insert('article', { a: 5, b: 'B', tags: [] });
    expect(await rows('select a, b from content.article')).to.deep.equal([{ a: 5, b: 'B' }]);
  });

  it('keeps a view that was created on the view of the type when a field is added', async () => {
    await post({ name: 'article', fields: [text('title')] });
    await rows('create view public.theirs as select title from content.article');
    await put('article', { fields: [text('before'), text('title')] });
    expect(await rows('select * from public.theirs')).to.deep.equal([]);
  });
});
