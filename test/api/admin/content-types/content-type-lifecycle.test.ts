import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { resultOf, statusAndError } from '../../../support/http.ts';
import { useService } from '../../../support/service.ts';

type Json = Record<string, unknown>;
type Field = { readonly name: string; readonly field_type: string; readonly [key: string]: unknown };

const text = (name: string, more: object = {}): Field => ({ name, field_type: 'text', ...more });
const belongsTo = (name: string, to: string): Field => ({ name, field_type: 'relation', relation_to: to });

describe('content type lifecycle', () => {
  const service = useService();
  const { owner, ownerContent, database } = service;

  async function post(definition: Json, query = ''): Promise<Json> {
    return resultOf<Json>(await owner('POST', `/api/admin/schemas${query}`, definition));
  }
  /** Saves an existing type through the route that has no budget. */
  const save = (definition: Json): Promise<Json> => post(definition);
  async function create(schema: string, data: Json): Promise<string> {
    const reply = await ownerContent('POST', `/api/v1/content/${schema}`, { data });
    expect(reply.status, reply.text).to.equal(201);
    return reply.json<{ id: string }>().id;
  }
  const dataOf = async (schema: string, id: string) =>
    (await ownerContent('GET', `/api/v1/content/${schema}/${id}`)).json<{ data: Json }>().data;
  const list = async (schema: string, query = '') =>
    (await ownerContent('GET', `/api/v1/content/${schema}${query}`)).json<{ data: Json }[]>().map(({ data }) => data);
  const rename = (name: string, body: unknown) => owner('PUT', `/api/admin/schemas/${name}/rename`, body);
  const renameField = (name: string, field: string, body: unknown) =>
    owner('PUT', `/api/admin/schemas/${name}/fields/${field}/rename`, body);
  const rows = (sql: string) => database.db().query<Json>(sql);
  const claimed = () => rows(`select scope from operational.claims where scope like 'entry/%'`);
  const historyOf = async (name: string) =>
    (await owner('GET', `/api/admin/schemas/${name}/history`)).json<{ statements: Json[]; pending: number }>();

  describe('renaming a type', () => {
    it('moves path, entries, view, unique values and relations of other types', async () => {
      await post({ name: 'person', fields: [text('email', { unique: true }), { name: 'posts', field_type: 'json' }] });
      await post({ name: 'note', fields: [text('title'), belongsTo('author', 'person')] });
      const ann = await create('person', { email: 'a@x.test' });
      const note = await create('note', { title: 'hello', author_id: ann });
      const before = (await owner('GET', '/api/admin/schemas/person')).json<Json>();

      const reply = await rename('person', { new_name: 'human' });
      expect(reply.status, reply.text).to.equal(200);
      expect(reply.json<Json>()).to.deep.equal({ ...before, name: 'human', display_name: 'human' });
      expect((await owner('GET', '/api/admin/schemas/person')).status).to.equal(404);
      expect((await ownerContent('GET', '/api/v1/content/person')).status).to.equal(404);
      expect(await dataOf('human', ann)).to.include({ email: 'a@x.test' });
      expect(await rows('select email from content.human')).to.deep.equal([{ email: 'a@x.test' }]);
      expect(await rows(`select 1 from pg_views where schemaname = 'content' and viewname = 'person'`)).to.deep.equal(
        [],
      );

      const type = (await owner('GET', '/api/admin/schemas/note')).json<{ fields: Field[] }>();
      expect(type.fields[1]).to.include({ name: 'author', relation_to: 'human' });
      expect(
        (await ownerContent('GET', `/api/v1/content/note/${note}?populate=author`)).json<{
          data: { author: { data: Json } };
        }>().data.author.data,
      ).to.include({ email: 'a@x.test' });
      expect(await create('note', { title: 'second', author_id: ann })).to.be.a('string');
      expect(
        statusAndError(await ownerContent('POST', '/api/v1/content/human', { data: { email: 'a@x.test' } })),
      ).to.deep.equal([409, 'unique value already held']);
      expect(statusAndError(await owner('DELETE', '/api/admin/schemas/human'))).to.deep.equal([
        409,
        'content type is referenced by note.author',
      ]);
      expect(await post({ name: 'person', fields: [] })).to.include({ name: 'person' });
    });

    it('reads earlier revisions and events under the new name', async () => {
      await post({ name: 'draft', fields: [text('title')], with_draft_publish: true });
      const id = await create('draft', { title: 'one' });
      await ownerContent('PUT', `/api/v1/content/draft/${id}/publish`);
      await rename('draft', { new_name: 'paper' });
      const revisions = (await ownerContent('GET', `/api/v1/content/paper/${id}/revisions`)).json<
        { action: string; id: string }[]
      >();
      expect(revisions.map(({ action }) => action)).to.deep.equal(['publish', 'create']);
      expect((await ownerContent('GET', `/api/v1/content/paper/${id}`)).json<Json>()).to.include({
        schema_name: 'paper',
        status: 'published',
      });
      const moved = await ownerContent('PUT', `/api/v1/content/paper/${id}/unpublish`);
      expect(moved.json<Json>()).to.include({ schema_name: 'paper', status: 'draft' });
    });

    it('updates a relation of the type to itself', async () => {
      await post({ name: 'tree', fields: [text('label')] });
      await save({
        name: 'tree',
        fields: [
          text('label'),
          belongsTo('parent', 'tree'),
          { name: 'children', field_type: 'relation', relation_type: 'has_many', relation_to: 'tree' },
        ],
      });
      const renamed = (await rename('tree', { new_name: 'branch' })).json<{ fields: Field[] }>();
      expect(renamed.fields.map(({ relation_to: to }) => to)).to.deep.equal([undefined, 'branch', 'branch']);
      const root = await create('branch', { label: 'root' });
      await create('branch', { label: 'leaf', parent_id: root });
      expect(await list('branch', `?filters[parent_id]=${root}`)).to.have.length(1);
    });

    it('updates API keys and access rules that name it', async () => {
      await post({ name: 'ticket', fields: [text('title')] });
      const narrow = await service.key({ schemas: ['ticket'] });
      expect((await narrow('GET', '/api/v1/content/ticket')).status).to.equal(200);
      await rename('ticket', { new_name: 'issue' });
      expect((await narrow('GET', '/api/v1/content/issue')).status).to.equal(200);
      expect((await narrow('GET', '/api/v1/content/ticket')).status).to.equal(403);
    });

    it('refuses invalid requests with exact messages', async () => {
      await post({ name: 'here' });
      await post({ name: 'there' });
      expect(statusAndError(await rename('nowhere', {}))).to.deep.equal([404, 'schema not found']);
      for (const body of [{}, { new_name: '' }, { new_name: null }, [], 7])
        expect(statusAndError(await rename('here', body)), JSON.stringify(body)).to.deep.equal([
          422,
          'new_name is required',
        ]);
      expect(statusAndError(await rename('here', { new_name: 'here' }))).to.deep.equal([
        422,
        'new_name must differ from current name',
      ]);
      for (const name of ['There', '1x', 'a b', 'x'.repeat(64), '_x', '"; drop table x; --', 7, {}]) {
        const [status, message] = statusAndError(await rename('here', { new_name: name }));
        expect([status, message], JSON.stringify(name)).to.deep.equal([
          422,
          'invalid schema: name must start with a letter and hold at most 63 lower-case letters, digits or _',
        ]);
      }
      expect(statusAndError(await rename('here', { new_name: 'there' }))).to.deep.equal([
        409,
        'a schema with that name already exists',
      ]);
      expect(
        statusAndError(
          await owner('PUT', '/api/admin/schemas/here/rename', '{', { 'content-type': 'application/json' }),
        ),
      ).to.deep.equal([400, 'invalid JSON']);
    });

    it('renames back and forth with pending statements', async () => {
      await post({ name: 'ping', fields: [text('a'), text('b')] });
      const id = await create('ping', { a: '1', b: '2' });
      await save({ name: 'ping', fields: [text('a')] });
      await rename('ping', { new_name: 'pong' });
      expect(
        (await historyOf('pong')).statements.filter(({ state }) => state === 'pending').map(({ sql }) => sql),
      ).to.deep.equal(['alter table "rm_content"."pong" drop column "b"']);
      await rename('pong', { new_name: 'ping' });
      expect((await owner('POST', '/api/admin/schemas/ping/apply-pending')).json<Json>()).to.deep.equal({
        applied: 1,
        canceled: 0,
      });
      expect(await dataOf('ping', id)).to.deep.equal({ a: '1' });
    });
  });

  describe('renaming a field', () => {
    it('moves values, index, unique values, filters, history and rules that name it', async () => {
      const range = [
        { name: 'low', field_type: 'integer', indexed: true },
        { name: 'high', field_type: 'integer', validation: [{ rule: 'compare', params: { op: 'gte', field: 'low' } }] },
      ];
      await post({ name: 'span', fields: [...range, text('code', { unique: true })] });
      const id = await create('span', { low: 1, high: 2, code: 'x' });
      await ownerContent('PUT', `/api/v1/content/span/${id}`, { data: { low: 2 } });

      const reply = await renameField('span', 'low', { new_name: 'bottom' });
      expect([reply.status, reply.json<Json>()]).to.deep.equal([
        200,
        { schema: 'span', old_field: 'low', new_field: 'bottom' },
      ]);
      await renameField('span', 'code', { new_name: 'sku' });
      expect(await dataOf('span', id)).to.deep.equal({ bottom: 2, high: 2, sku: 'x' });
      expect(await list('span', '?filters[bottom]=2')).to.have.length(1);
      expect((await ownerContent('GET', '/api/v1/content/span?filters[low]=2')).status).to.equal(400);
      expect(await rows('select bottom, sku from content.span')).to.deep.equal([{ bottom: 2, sku: 'x' }]);
      const refused = await ownerContent('PUT', `/api/v1/content/span/${id}`, { data: { high: 1 } });
      expect([refused.status, refused.json<{ fields: Json[] }>().fields]).to.deep.equal([
        422,
        [{ field: 'high', message: 'must be at least bottom' }],
      ]);
      expect((await ownerContent('POST', '/api/v1/content/span', { data: { sku: 'x' } })).status).to.equal(409);
      const [last, first] = (await ownerContent('GET', `/api/v1/content/span/${id}/revisions`)).json<
        { id: string; changed: string[] }[]
      >();
      expect([last?.changed, first?.changed]).to.deep.equal([['bottom'], ['bottom', 'high', 'sku']]);
      const past = await ownerContent('GET', `/api/v1/content/span/${id}/revisions/${first?.id ?? ''}`);
      expect(past.json<{ data: Json }>().data).to.deep.equal({ bottom: 1, high: 2, sku: 'x' });
      expect(
        await rows(`select indexdef from pg_indexes where tablename = 'span' and indexdef like '%bottom%'`),
      ).to.have.length(1);
    });

    it('renames the column of a relation, the other side that names it, and a many_to_many', async () => {
      await post({ name: 'album', fields: [text('title')] });
      await post({
        name: 'track',
        fields: [
          belongsTo('album', 'album'),
          { name: 'similar', field_type: 'relation', relation_type: 'many_to_many', relation_to: 'album' },
        ],
      });
      await save({
        name: 'album',
        fields: [
          text('title'),
          { name: 'tracks', field_type: 'relation', relation_type: 'has_many', relation_to: 'track' },
        ],
      });
      const album = await create('album', { title: 'A' });
      const track = await create('track', { album_id: album, similar: [album] });
      await renameField('track', 'album', { new_name: 'record' });
      await renameField('track', 'similar', { new_name: 'alike' });
      await renameField('album', 'tracks', { new_name: 'songs' });
      expect(await dataOf('track', track)).to.deep.equal({ record_id: album, alike: [album] });
      expect((await owner('GET', '/api/admin/schemas/album')).json<{ fields: Field[] }>().fields[1]).to.include({
        name: 'songs',
        relation_field: 'record',
      });
      const populated = (await ownerContent('GET', `/api/v1/content/album/${album}?populate=songs`)).json<{
        data: { songs: Json[] };
      }>();
      expect(populated.data.songs).to.have.length(1);
    });

    it('refuses invalid requests with exact messages', async () => {
      await post({ name: 'thing', fields: [text('a'), text('b'), belongsTo('c', 'thing'), text('gone')] });
      await save({ name: 'thing', fields: [text('a'), text('b'), belongsTo('c', 'thing')] });
      expect(statusAndError(await renameField('nothing', 'a', {}))).to.deep.equal([404, 'schema not found']);
      expect(statusAndError(await renameField('thing', 'z', {}))).to.deep.equal([404, 'field not found in schema']);
      expect(statusAndError(await renameField('thing', 'gone', { new_name: 'x' }))).to.deep.equal([
        404,
        'field not found in schema',
      ]);
      expect(statusAndError(await renameField('thing', 'a', {}))).to.deep.equal([422, 'new_name is required']);
      expect(statusAndError(await renameField('thing', 'a', { new_name: 'a' }))).to.deep.equal([
        422,
        'new_name must differ from current name',
      ]);
      for (const name of ['b', 'c', 'c_id', 'gone'])
        expect(statusAndError(await renameField('thing', 'a', { new_name: name })), name).to.deep.equal([
          409,
          'a field with that name already exists',
        ]);
      for (const name of ['A', 'id', '_a', 'x'.repeat(64), 'tenant_id', 'xmin', 7]) {
        const [status, message] = statusAndError(await renameField('thing', 'a', { new_name: name }));
        expect([status, String(message).slice(0, 16)], String(name)).to.deep.equal([422, 'invalid schema: ']);
      }
      expect(statusAndError(await renameField('thing', 'c', { new_name: 'x'.repeat(61) }))[0]).to.equal(422);
    });
  });

  describe('pending statements', () => {
    it('stay pending, are applied or canceled, and are counted since the last application', async () => {
      await post({
        name: 'queue',
        fields: [text('a'), text('b', { unique: true }), text('c')],
        with_soft_delete: true,
        with_draft_publish: true,
      });
      await create('queue', { a: '1', b: '2', c: '3' });
      const deleted = await create('queue', { a: 'x' });
      await ownerContent('DELETE', `/api/v1/content/queue/${deleted}`);
      await save({ name: 'queue', fields: [text('a')] });
      const claims = (await claimed()).length;
      expect((await historyOf('queue')).pending).to.equal(4);
      const queued = (await owner('GET', '/api/admin/migrate')).json<{
        pending: Record<string, Json[]>;
        total: number;
      }>();
      expect(
        queued.pending['queue']?.map(({ description, state, destructive }) => [description, state, destructive]),
      ).to.deep.equal([
        ['Drop column b', 'pending', true],
        ['Drop column c', 'pending', true],
        ['Turn off soft delete: removes the deleted entries', 'pending', true],
        ['Turn off draft and publish: every entry counts as published', 'pending', true],
      ]);
      expect(queued.total).to.be.at.least(4);

      await save({ name: 'queue', fields: [text('a'), text('c')] });
      expect((await owner('POST', '/api/admin/schemas/queue/apply-pending')).json<Json>()).to.deep.equal({
        applied: 3,
        canceled: 1,
      });
      expect((await owner('POST', '/api/admin/schemas/queue/apply-pending')).json<Json>()).to.deep.equal({
        applied: 0,
        canceled: 0,
      });
      const history = await historyOf('queue');
      expect(history.pending).to.equal(0);
      expect(history.statements.find(({ description }) => description === 'Drop column b'))
        .to.include({ state: 'applied' })
        .and.have.property('applied_at')
        .that.is.a('string');
      expect(history.statements.find(({ description }) => description === 'Drop column c')).to.include({
        state: 'canceled',
        applied_at: null,
      });
      expect(
        await rows(
          `select column_name from information_schema.columns where table_schema = 'rm_content' and table_name = 'queue' and column_name in ('a', 'b', 'c') order by 1`,
        ),
      ).to.deep.equal([{ column_name: 'a' }, { column_name: 'c' }]);
      expect(await rows(`select "_status" from rm_content.queue`)).to.deep.equal([{ _status: 'published' }]);
      expect(await rows('select a, c from content.queue')).to.deep.equal([{ a: '1', c: '3' }]);
      expect(await claimed()).to.have.length(claims - 1);
      await save({ name: 'queue', fields: [text('a'), text('b', { unique: true })] });
      await create('queue', { b: '2' });
    });

    it('fail individually if the database refuses them, and are retried', async () => {
      await post({ name: 'held', fields: [text('a'), text('b')] });
      await save({ name: 'held', fields: [] });
      await database.db().query('create view public.theirs as select a from rm_content.held');
      expect((await owner('POST', '/api/admin/schemas/held/apply-pending')).json<Json>()).to.deep.equal({
        applied: 1,
        canceled: 0,
        failed: 1,
      });
      const [first] = (await historyOf('held')).statements.filter(({ state }) => state === 'failed');
      expect(first).to.include({ description: 'Drop column a', reason: '2BP01' });
      expect(
        (await owner('GET', '/api/admin/migrate'))
          .json<{ pending: Record<string, Json[]> }>()
          .pending['held']?.map(({ state }) => state),
      ).to.deep.equal(['failed']);
      await database.db().query('drop view public.theirs');
      expect((await owner('POST', '/api/admin/migrate/apply')).json<Json>()).to.not.have.property('failed');
      expect((await historyOf('held')).statements.some(({ state }) => state === 'failed')).to.equal(false);
    });

    it('are applied for all types in one call, which counts them', async () => {
      await post({ name: 'constructor', fields: [text('a')] });
      await save({ name: 'constructor', fields: [] });
      expect((await owner('GET', '/api/admin/migrate')).json<{ pending: Json }>().pending).to.have.own.property(
        'constructor',
      );
      const counted = (await owner('POST', '/api/admin/schemas/migrate')).json<{ count: number; applied: number }>();
      expect(counted.count).to.equal(counted.applied).and.to.be.at.least(1);
      expect((await owner('GET', '/api/admin/migrate')).json<Json>()).to.deep.equal({ pending: {}, total: 0 });
      expect((await owner('POST', '/api/admin/migrate/apply')).json<Json>()).to.deep.equal({ applied: 0, canceled: 0 });
    });

    it('are refused for an unknown type', async () => {
      expect(statusAndError(await owner('POST', '/api/admin/schemas/nowhere/apply-pending'))).to.deep.equal([
        404,
        'schema not found',
      ]);
    });
  });

  describe('a field that becomes unique', () => {
    it('claims the values of its entries, and later those of commands that began under the previous definition', async function () {
      this.timeout(30_000);
      await post({ name: 'late', fields: [text('code')] });
      await create('late', { code: 'early' });
      await save({ name: 'late', fields: [text('code', { unique: true })] });
      expect((await ownerContent('POST', '/api/v1/content/late', { data: { code: 'early' } })).status).to.equal(409);

      // A command that began before the change makes no claim: its event is in the log without one.
      await create('late', { code: 'slipped' });
      const newest = `select ctid from operational.claims where scope like 'entry/%' order by claimed_at desc limit 1`;
      expect(await database.db().execute(`delete from operational.claims where ctid = (${newest})`)).to.equal(1);
      expect(
        await database
          .db()
          .execute(
            `update operational.claims set unsettled_since = unsettled_since - interval '2 minutes' where scope = 'content_type/unique'`,
          ),
      ).to.be.at.least(1);
      await eventually(
        async () =>
          expect(
            await rows(
              `select 1 from operational.claims where scope = 'content_type/unique' and unsettled_since < now() - interval '1 minute'`,
            ),
          ).to.have.length(0),
        { timeoutMs: 20_000 },
      );
      expect((await ownerContent('POST', '/api/v1/content/late', { data: { code: 'slipped' } })).status).to.equal(409);
    });
  });

  describe('deleting and restoring', () => {
    it('frees every unique value of its entries on a hard deletion', async () => {
      const before = (await claimed()).length;
      await post({ name: 'mortal', fields: [text('a', { unique: true })] });
      await create('mortal', { a: '1' });
      await create('mortal', { a: '2' });
      expect(await claimed()).to.have.length(before + 2);
      expect((await owner('DELETE', '/api/admin/schemas/mortal')).status).to.equal(204);
      expect(await claimed()).to.have.length(before);
    });

    it('keeps entries on a soft deletion, and adopt restores them changed as by a save', async () => {
      await post({
        name: 'phoenix',
        fields: [text('a', { unique: true }), text('n'), text('old')],
        with_soft_delete: true,
      });
      const kept = await create('phoenix', { a: 'x', n: '5', old: 'o' });
      const gone = await create('phoenix', { a: 'y' });
      await ownerContent('DELETE', `/api/v1/content/phoenix/${gone}`);
      expect((await owner('DELETE', '/api/admin/schemas/phoenix?content=soft')).status).to.equal(204);
      expect((await ownerContent('GET', '/api/v1/content/phoenix')).status).to.equal(404);

      await post({ name: 'phoenix', fields: [{ name: 'a', field_type: 'integer' }] });
      expect(await list('phoenix')).to.deep.equal([]);
      await create('phoenix', { a: 1 });
      expect((await owner('DELETE', '/api/admin/schemas/phoenix')).status).to.equal(204);

      await post(
        {
          name: 'phoenix',
          fields: [text('a', { unique: true }), { name: 'n', field_type: 'integer' }, text('fresh')],
          with_soft_delete: true,
        },
        '?adopt=true',
      );
      expect(await list('phoenix')).to.deep.equal([{ a: 'x', n: 5, fresh: null }]);
      expect(
        (await ownerContent('PUT', `/api/v1/content/phoenix/${kept}`, { data: { fresh: 'f' } })).json<{
          version: number;
          data: Json;
        }>(),
      ).to.deep.include({ version: 2, data: { a: 'x', n: 5, fresh: 'f' } });
      expect((await ownerContent('POST', '/api/v1/content/phoenix', { data: { a: 'x' } })).status).to.equal(409);
      expect((await historyOf('phoenix')).pending).to.equal(1);
      expect((await ownerContent('GET', `/api/v1/content/phoenix/${kept}/revisions`)).json<Json[]>()).to.have.length(2);
      expect((await ownerContent('PUT', `/api/v1/content/phoenix/${gone}/undelete`)).status).to.equal(200);
      expect(await rows(`select tablename from pg_tables where tablename like '\\_kept%'`)).to.deep.equal([]);
    });

    it('refuses adopt without a change when the definition does not fit the kept values', async () => {
      await post({ name: 'ashes', fields: [text('n')] });
      await create('ashes', { n: 'many' });
      await owner('DELETE', '/api/admin/schemas/ashes?content=soft');
      const refused = await owner('POST', '/api/admin/schemas?adopt=true', {
        name: 'ashes',
        fields: [{ name: 'n', field_type: 'integer' }],
      });
      expect(statusAndError(refused)).to.deep.equal([422, 'schema migration failed']);
      await post({ name: 'ashes', fields: [text('n')] }, '?adopt=true');
      expect(await list('ashes')).to.deep.equal([{ n: 'many' }]);
    });
  });
});
