import { expect } from 'chai';
import type { ContentType } from '../../../../domain/content/content-type.ts';
import { type EntryQuery, queryColumn } from '../../../../domain/content/entry-query.ts';
import type { PopulatePlan } from '../../../../domain/content/populate-plan.ts';
import { isAppError } from '../../../../domain/errors.ts';
import { createAdminEntryList } from '../../../../projections/content/entries/admin-entry-list.ts';
import { createEntryQueries } from '../../../../projections/content/entries/entry-queries.ts';
import { getPastEntry } from '../../../../projections/content/entries/get-past-entry.ts';
import { useContent } from '../../../support/content.ts';

const NOTHING: ReadonlySet<string> = new Set();
const MAX_BYTES = 100_000;
const AUTHOR = '00000000-0000-4000-8000-000000000001';
const SMALL = '00000000-0000-4000-8000-000000000002';

describe('size of responses with entries', function () {
  this.timeout(60_000);
  const content = useContent();
  let author: ContentType;
  let article: ContentType;

  before(async () => {
    author = await content.save({
      name: 'author',
      fields: [
        { name: 'bio', field_type: 'text' },
        {
          name: 'articles',
          field_type: 'relation',
          relation_to: 'article',
          relation_type: 'has_many',
          relation_field: 'author',
        },
      ],
    });
    article = await content.save({
      name: 'article',
      fields: [
        { name: 'body', field_type: 'text' },
        { name: 'author', field_type: 'relation', relation_to: 'author', relation_type: 'belongs_to' },
      ],
    });
    const db = content.database();
    const columns = 'id, tenant_id, _version, _status, _created_at, _updated_at, _created_by, _updated_by, _position';
    const values = `'default', 1, 'published', now() - interval '1 day' - n * interval '1 second', now() - interval '1 day', '{"kind":"user","id":"u"}', '{"kind":"user","id":"u"}', lpad(n::text, 20, '0')`;
    await db.query(
      `insert into rm_content.author (${columns}, bio) select case n when 1 then '${AUTHOR}'::uuid else '${SMALL}' end, ${values}, repeat('b', case n when 1 then 1000000 else 10 end) from generate_series(1, 2) n`,
    );
    await db.query(
      `insert into rm_content.article (${columns}, author_id, body) select gen_random_uuid(), ${values}, case when n <= 1000 then '${AUTHOR}'::uuid else '${SMALL}' end, repeat('a', 1000) from generate_series(1, 1200) n`,
    );
  });

  const queries = (maxResponseBytes?: number) =>
    createEntryQueries({
      database: content.database(),
      past: content.dependencies().past,
      ...(maxResponseBytes === undefined ? {} : { maxResponseBytes }),
    });
  function query(type: ContentType, given: Partial<EntryQuery> = {}): EntryQuery {
    const column = queryColumn(type, NOTHING, '_created_at');
    if (!column) throw new Error('no column');
    return {
      conditions: [],
      sort: [{ column, descending: true }],
      fields: undefined,
      hidden: NOTHING,
      limit: 1000,
      offset: 0,
      ...given,
    };
  }
  function populated(type: ContentType, name: string, related: ContentType): PopulatePlan {
    const field = type.definition.fields.find((candidate) => candidate.name === name);
    if (!field) throw new Error(`no field ${name}`);
    return [{ field, type: related, hidden: NOTHING, relations: [] }];
  }
  async function refused(read: Promise<unknown>): Promise<{ readonly message: string; readonly hint: unknown }> {
    const error = await read.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!isAppError(error)) throw new Error(`not refused: ${String(error)}`);
    return { message: error.message, hint: error.body?.['hint'] };
  }

  it('refuses 1,000 entries that each populate an entry of 1 MB, before PostgreSQL builds the response', async () => {
    const populate = populated(article, 'author', author);
    for (const list of ['list', 'page'] as const) {
      const { message, hint } = await refused(queries().lists[list](article, query(article, { populate })));
      expect(message).to.equal('invalid query parameter: populate');
      expect(hint).to.equal('the response would exceed 16777216 bytes; limit=16 fits');
    }
    const fitting = JSON.parse(await queries().lists.list(article, query(article, { populate, limit: 16 }))) as [];
    expect(fitting).to.have.length(16);
  });

  it('names the largest limit that fits, and serves it with its cursor', async () => {
    const { lists } = queries(MAX_BYTES);
    const { message, hint } = await refused(lists.page(article, query(article)));
    expect(message).to.equal('invalid query parameter: limit');
    const limit = Number(/limit=(\d+) fits/.exec(String(hint))?.[1]);
    expect(limit).to.be.within(50, 100);
    const page = await lists.page(article, query(article, { limit }));
    expect(page.count).to.equal(limit);
    expect(page.json.length).to.be.at.most(MAX_BYTES + limit + 2);
    expect(page.last?.id).to.equal((JSON.parse(page.json) as { id: string }[]).at(-1)?.id);
    await refused(lists.list(article, query(article, { limit: limit + 1 })));
  });

  it('serves an entry that is larger than its share of the response, and measures that list from then on', async () => {
    const db = content.database();
    await db.query(`update rm_content.article set body = repeat('d', 50000) where _position = lpad('3', 20, '0')`);
    let statements = 0;
    const counted = {
      ...db,
      query: (...given: Parameters<typeof db.query>) => {
        statements += 1;
        return db.query(...given);
      },
    } as typeof db;
    const { lists } = createEntryQueries({
      database: counted,
      past: content.dependencies().past,
      maxResponseBytes: MAX_BYTES,
    });
    const asked = query(article, { limit: 20 });
    for (const expected of [2, 1]) {
      statements = 0;
      const entries = JSON.parse((await lists.page(article, asked)).json) as { data: { body: string } }[];
      expect(entries.map(({ data }) => data.body.length))
        .to.include(50_000)
        .and.to.have.length(20);
      expect(statements).to.equal(expected);
    }
    await db.query(`update rm_content.article set body = repeat('a', 1000) where _position = lpad('3', 20, '0')`);
  });

  it('refuses a point in time that is too large', async () => {
    const { lists } = queries(MAX_BYTES);
    const asOf = new Date().toISOString();
    expect((await refused(lists.list(article, query(article, { asOf })))).message).to.contain('limit');
    expect((await refused(lists.page(article, query(article, { asOf })))).message).to.contain('limit');
  });

  it('refuses one entry whose populated entries are too large, now and at a point in time', async () => {
    const shape = { hidden: NOTHING, populate: populated(author, 'articles', article) };
    const get = queries(50_000).reads.get(author, SMALL, shape);
    const { message, hint } = await refused(get);
    expect(message).to.equal('invalid query parameter: populate');
    expect(hint).to.equal('the response would exceed 50000 bytes; populate fewer relations or a smaller page');
    const entry = await content.dependencies().reads.load(author, SMALL);
    if (!entry) throw new Error('no entry');
    const past = getPastEntry(
      { type: author, entry, asOf: new Date().toISOString(), shape },
      { past: content.dependencies().past, maxResponseBytes: 50_000 },
    );
    expect((await refused(past)).message).to.equal('invalid query parameter: populate');
  });

  it('refuses a page of related entries that is too large', async () => {
    const [relation] = populated(author, 'articles', article);
    if (!relation) throw new Error('no relation');
    const page = { type: author, id: SMALL, relation, offset: 0 };
    const { listRelated } = queries(MAX_BYTES);
    const { message, hint } = await refused(listRelated({ ...page, limit: 200 }));
    expect(message).to.equal('invalid query parameter: limit');
    const limit = Number(/limit=(\d+) fits/.exec(String(hint))?.[1]);
    expect(await listRelated({ ...page, limit })).to.have.property('total', 200);
  });

  it('reads the referrers of an entry in pages of at most about 16 MiB', async () => {
    const target = '00000000-0000-4000-8000-000000000003';
    await content.database()
      .query(`insert into rm_content.article (id, tenant_id, _version, _status, _created_at, _updated_at, _created_by, _updated_by, _position, author_id, body)
      select gen_random_uuid(), 'default', 1, 'published', now(), now(), '{}', '{}', '1', '${target}', repeat('c', 1000000) from generate_series(1, 40)`);
    const pages: number[] = [];
    for await (const page of queries().reads.referrers(author, target)) pages.push(page.length);
    expect(pages).to.deep.equal([17, 17, 6]);
    await content.database().query('delete from rm_content.article where author_id = $1', [target]);
  });

  it('refuses a list of several content types that is too large', async () => {
    const listAdmin = createAdminEntryList({ database: content.database(), maxBytes: MAX_BYTES });
    const types = [author, article].map((type) => ({ type, hidden: NOTHING }));
    const asked = { tenant: 'default', types, status: undefined, search: undefined, offset: 0 };
    const { message, hint } = await refused(listAdmin({ ...asked, limit: 200 }));
    expect(message).to.equal('invalid query parameter: limit');
    expect(hint).to.equal('the response would exceed 100000 bytes; ask for a smaller page');
    const one = { ...asked, types: types.slice(1) };
    expect((await listAdmin({ ...one, limit: 40 })).entries).to.have.length(40);
  });
});
