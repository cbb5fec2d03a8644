import { expect } from 'chai';
import { v7 } from 'uuid';
import type { ContentType } from '../../../../domain/content/content-type.ts';
import { type EntryQuery, queryColumn } from '../../../../domain/content/entry-query.ts';
import {
  MAX_MANY,
  type PopulatePlan,
  type PopulatedRelation,
  populateKey,
} from '../../../../domain/content/populate-plan.ts';
import type { Json } from '../../../../domain/json.ts';
import type { Database } from '../../../../infrastructure/postgres/database.ts';
import { createEntryQueries } from '../../../../projections/content/entries/entry-queries.ts';
import { mayExceed } from '../../../../projections/content/entries/populate-bound.ts';
import { useContent } from '../../../support/content.ts';

const relation = (
  name: string,
  relation_to: string,
  relation_type: 'belongs_to' | 'has_many' | 'has_one' | 'many_to_many',
  relation_field?: string,
) =>
  ({
    name,
    field_type: 'relation',
    relation_to,
    relation_type,
    ...(relation_field === undefined ? {} : { relation_field }),
  }) as const;
const NOTHING: ReadonlySet<string> = new Set();

describe('populated entries in SQL', () => {
  const content = useContent();
  let types: Readonly<Record<'tag' | 'person' | 'article' | 'comment', ContentType>>;
  const asked: { readonly text: string; readonly values: readonly unknown[] }[] = [];

  before(async function () {
    this.timeout(60_000);
    const name = { name: 'name', field_type: 'text' } as const;
    types = {
      tag: await content.save({ name: 'tag', fields: [name] }),
      person: await content.save({
        name: 'person',
        fields: [
          name,
          relation('articles', 'article', 'has_many', 'author'),
          relation('first', 'article', 'has_one', 'author'),
        ],
      }),
      article: await content.save({
        name: 'article',
        with_draft_publish: true,
        fields: [
          name,
          relation('author', 'person', 'belongs_to'),
          relation('tags', 'tag', 'many_to_many'),
          relation('comments', 'comment', 'has_many', 'article'),
        ],
      }),
      comment: await content.save({ name: 'comment', fields: [name, relation('article', 'article', 'belongs_to')] }),
    };
    const db = content.database();
    const system =
      '(id, tenant_id, _version, _status, _created_at, _updated_at, _created_by, _updated_by, _position, name';
    const values = (table: string) =>
      `md5('${table}' || n)::uuid, 'default', 1, 'published', now() - n * interval '1 second', now(), '{"kind":"user","id":"u"}', '{"kind":"user","id":"u"}', lpad(n::text, 20, '0'), '${table} ' || n`;
    await db.query(`insert into rm_content.tag ${system}) select ${values('tag')} from generate_series(1, 10000) n`);
    await db.query(
      `insert into rm_content.person ${system}) select ${values('person')} from generate_series(1, 10000) n`,
    );
    await db.query(`insert into rm_content.article ${system}, author_id, tags) select ${values('article')}, md5('person' || (n % 5000 + 1))::uuid,
      array[md5('tag' || n)::uuid, md5('tag' || (n % 100 + 1))::uuid, md5('tag' || (n % 7 + 1))::uuid] from generate_series(1, 10000) n`);
    await db.query(
      `insert into rm_content.comment ${system}, article_id) select ${values('comment')}, md5('article' || (n % 3000 + 1))::uuid from generate_series(1, 10000) n`,
    );
    // The tables and indexes that saving these types creates.
    await db.query(
      `create index on rm_content.article (tenant_id, author_id, id); create index on rm_content.article using gin (tags); create index on rm_content.comment (tenant_id, article_id, id)`,
    );
    await db.query(`create index on rm_content.article (tenant_id, "_status", "_created_at" desc, id)`);
    await db.query('analyze rm_content.tag, rm_content.person, rm_content.article, rm_content.comment');
  });

  function queries() {
    const db = content.database();
    const recorded: Database = {
      ...db,
      query: (text, values = [], name) => (asked.push({ text, values }), db.query(text, values, name)),
    };
    return createEntryQueries({ database: recorded, past: content.dependencies().past });
  }
  function followed(
    type: ContentType,
    name: string,
    relations: PopulatePlan = [],
    hidden = NOTHING,
  ): PopulatedRelation {
    const field = type.definition.fields.find((candidate) => candidate.name === name);
    const target = Object.values(types).find((candidate) => candidate.name === field?.relation_to);
    if (!field || !target) throw new Error(`no relation ${name}`);
    return { field, type: target, hidden, relations };
  }
  function query(type: ContentType, populate: PopulatePlan, limit = 25): EntryQuery {
    const column = queryColumn(type, NOTHING, '_created_at');
    if (!column) throw new Error('no column');
    return {
      conditions: [],
      sort: [{ column, descending: true }],
      fields: undefined,
      hidden: NOTHING,
      populate,
      limit,
      offset: 0,
    };
  }
  async function planOf(run: () => Promise<unknown>): Promise<string> {
    asked.length = 0;
    await run();
    expect(asked, 'one statement').to.have.length(1);
    const [{ text, values } = { text: '', values: [] }] = asked;
    const rows = await content.database().query<Record<'QUERY PLAN', string>>(`explain ${text}`, values);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  }
  type Entry = { readonly id: string; readonly data: Readonly<Record<string, Json>> };
  const parse = (json: string) => JSON.parse(json) as readonly Entry[];

  it('uses indexes only for a list of ten thousand entries with any relation populated', async () => {
    const { lists } = queries();
    const author = followed(types.article, 'author', [
      followed(types.person, 'articles', [followed(types.article, 'tags')]),
      followed(types.person, 'first'),
    ]);
    const plans: readonly PopulatePlan[] = [
      [followed(types.article, 'author')],
      [followed(types.article, 'tags')],
      [followed(types.article, 'comments')],
      [author, followed(types.article, 'tags'), followed(types.article, 'comments')],
    ];
    for (const plan of plans) {
      const text = await planOf(() => lists.list(types.article, query(types.article, plan)));
      expect(text)
        .to.match(/Index/)
        .and.not.match(/Seq Scan on/);
    }
  });

  it('uses indexes only for one entry and its related entries', async () => {
    const { reads, listRelated } = queries();
    const id = parse(await queries().lists.list(types.article, query(types.article, [], 1)))[0]?.id ?? '';
    const plan = [
      followed(types.article, 'author', [followed(types.person, 'articles')]),
      followed(types.article, 'tags'),
    ];
    expect(await planOf(() => reads.get(types.article, id, { hidden: NOTHING, populate: plan }))).not.to.match(
      /Seq Scan on/,
    );
    for (const name of ['author', 'tags', 'comments']) {
      expect(
        await planOf(() =>
          listRelated({ type: types.article, id, relation: followed(types.article, name), limit: 25, offset: 0 }),
        ),
        name,
      ).not.to.match(/Seq Scan on/);
    }
  });

  it('returns the first hundred entries of a has_many in order of creation', async () => {
    const author = v7();
    const db = content.database();
    await db.query(
      `insert into rm_content.person (id, tenant_id, _version, _status, _created_at, _updated_at, _created_by, _updated_by, _position) values ($1, 'default', 1, 'published', now(), now(), '{}', '{}', '1')`,
      [author],
    );
    const ids = Array.from({ length: 103 }, () => v7()).toSorted();
    await db.query(
      `insert into rm_content.article (id, tenant_id, _version, _status, _created_at, _updated_at, _created_by, _updated_by, _position, author_id)
       select unnest($1::uuid[]), 'default', 1, 'published', now(), now(), '{}', '{}', '1', $2`,
      [ids.toReversed(), author],
    );
    const found = await queries().reads.get(types.person, author, {
      hidden: NOTHING,
      populate: [followed(types.person, 'articles'), followed(types.person, 'first')],
    });
    const data = (JSON.parse(found?.json ?? '{}') as Entry).data as unknown as {
      readonly articles: readonly Entry[];
      readonly first: Entry;
    };
    expect(data.articles.map(({ id }) => id)).to.deep.equal(ids.slice(0, MAX_MANY));
    expect(data.first.id).to.equal(ids[0]);
    const page = await queries().listRelated({
      type: types.person,
      id: author,
      relation: followed(types.person, 'articles'),
      limit: 200,
      offset: 100,
    });
    expect([page?.total, (JSON.parse(page?.json ?? '[]') as readonly Entry[]).map(({ id }) => id)]).to.deep.equal([
      103,
      ids.slice(100),
    ]);
  });

  it('does not treat an entry of a type without drafts as a preview, even if its row still has the status draft', async () => {
    const db = content.database();
    const [author, published, draft] = [v7(), v7(), v7()];
    await db.query(
      `insert into rm_content.person (id, tenant_id, _version, _status, _created_at, _updated_at, _created_by, _updated_by, _position) values ($1, 'default', 1, 'draft', now(), now(), '{}', '{}', '1')`,
      [author],
    );
    await db.query(
      `insert into rm_content.article (id, tenant_id, _version, _status, _created_at, _updated_at, _created_by, _updated_by, _position, author_id)
       values ($1, 'default', 1, 'published', now(), now(), '{}', '{}', '1', $3), ($2, 'default', 1, 'draft', now(), now(), '{}', '{}', '1', $3)`,
      [published, draft, author],
    );
    const relations = followed(types.person, 'articles');
    const found = await queries().reads.get(types.person, author, { hidden: NOTHING, populate: [relations] });
    expect(
      (JSON.parse(found?.json ?? '{}') as { readonly data: { readonly articles: readonly Entry[] } }).data.articles.map(
        ({ id }) => id,
      ),
    ).to.deep.equal([published]);
    expect(
      (await queries().listRelated({ type: types.person, id: author, relation: relations, limit: 9, offset: 0 }))
        ?.total,
    ).to.equal(1);
  });

  it('refuses a response only if it has more than ten thousand related entries', async () => {
    const comments = followed(types.article, 'comments', [
      followed(types.comment, 'article', [followed(types.article, 'comments')]),
    ]);
    const { lists, reads } = queries();
    const few = parse(await lists.list(types.article, query(types.article, [comments], 200)));
    expect(few).to.have.length(200);
    const article = parse(await lists.list(types.article, query(types.article, [], 1)))[0]?.id ?? '';
    await content.database().query(
      `insert into rm_content.comment (id, tenant_id, _version, _status, _created_at, _updated_at, _created_by, _updated_by, _position, article_id)
       select gen_random_uuid(), 'default', 1, 'published', now(), now(), '{}', '{}', '1', $1 from generate_series(1, 200)`,
      [article],
    );
    // 100 comments, each with the 100 comments of its article: 10,100.
    for (const run of [
      () => lists.list(types.article, query(types.article, [comments], 200)),
      () => lists.page(types.article, query(types.article, [comments], 200)),
      () => reads.get(types.article, article, { hidden: NOTHING, populate: [comments] }),
    ]) {
      const error = await run().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).to.include({ code: 'invalid_query_parameter', message: 'invalid query parameter: populate' });
    }
    expect(
      await reads.get(types.article, article, { hidden: NOTHING, populate: [followed(types.article, 'comments')] }),
    ).not.to.equal(undefined);
  });

  it('counts related entries first only if the response could be too large', () => {
    const [author, tags, comments] = [
      followed(types.article, 'author'),
      followed(types.article, 'tags'),
      followed(types.article, 'comments'),
    ];
    expect([
      mayExceed([author], 1000),
      mayExceed([comments], 100),
      mayExceed([comments], 101),
      mayExceed([tags], 10),
      mayExceed([tags], 11),
    ]).to.deep.equal([false, false, true, false, true]);
    expect(mayExceed([followed(types.article, 'author', [followed(types.person, 'articles')])], 101)).to.equal(true);
  });

  it('gives plans with another mask, type or depth another cache key', () => {
    const plans: readonly PopulatePlan[] = [
      [],
      [followed(types.article, 'author')],
      [followed(types.article, 'author', [], new Set(['name']))],
      [followed(types.article, 'author', [followed(types.person, 'articles')])],
      [{ ...followed(types.article, 'author'), type: { ...types.person, revision: 7 } }],
      [followed(types.article, 'tags')],
    ];
    expect(new Set(plans.map(populateKey)).size).to.equal(plans.length);
  });
});
