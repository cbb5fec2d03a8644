import { expect } from 'chai';
import { parseListQuery, parsePageQuery } from '../../../../api/content/parse-list-query.ts';
import { parseQuery } from '../../../../api/http/query-string.ts';
import type { ContentType } from '../../../../domain/content/content-type.ts';
import type { Queryable } from '../../../../infrastructure/postgres/database.ts';
import { type EntryQueries, createEntryQueries } from '../../../../projections/content/entries/entry-queries.ts';
import { testCursors, useContent } from '../../../support/content.ts';

const ENTRIES = 10_000;
const NOTHING: ReadonlySet<string> = new Set();
const now = () => new Date('2027-01-01T00:00:00Z');

describe('query plans of lists of 10,000 entries', () => {
  const content = useContent();
  let type: ContentType;
  let queries: EntryQueries;
  let blocks = 0;

  before(async () => {
    type = await content.save({
      name: 'doc',
      with_draft_publish: true,
      fields: [
        { name: 'title', field_type: 'text', indexed: true },
        { name: 'body', field_type: 'rich_text' },
        { name: 'n', field_type: 'integer', indexed: true },
      ],
    });
    const db = content.database();
    await db.query(`create index on rm_content.doc (tenant_id, n, id); create index on rm_content.doc (tenant_id, left(title, 255), id);
      insert into rm_content.doc (id, tenant_id, _version, _status, _created_at, _updated_at, _created_by, _updated_by, _position, title, body, n)
        select ('01890000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 'default', 1, 'published', timestamptz '2026-01-01' + i * interval '1 second', timestamptz '2026-01-01' + i * interval '1 second',
          '{"kind":"user","id":"u"}', '{"kind":"user","id":"u"}', lpad('3', 20, '0'), 'title ' || i, 'common word' || i % 500 || repeat(' filler', 100), case when i % 64 > 0 then i % 1000 end from generate_series(1, ${ENTRIES}) i;
      insert into rm_content._search select id, '${type.id}', tenant_id, rm_content._search_vector(array[title, body]) || array_to_tsvector(array[E'\\x01${type.id}']) from rm_content.doc;
      analyze rm_content.doc; analyze rm_content._search`);
    // EXPLAIN reports the rows that a statement reads.
    const explained: Queryable = {
      query: async <Row extends object>(text: string, values: readonly unknown[] = [], name?: string) => {
        const [plan] = await db.query<{
          readonly 'QUERY PLAN': readonly [{ readonly Plan: Readonly<Record<string, number>> }];
        }>(`explain (analyze, buffers, format json) ${text}`, values);
        const { 'Shared Hit Blocks': hit = 0, 'Shared Read Blocks': read = 0 } = plan?.['QUERY PLAN'][0].Plan ?? {};
        blocks = hit + read;
        return db.query<Row>(text, values, name);
      },
      execute: (text, values, name) => db.execute(text, values, name),
    };
    queries = createEntryQueries({ database: explained, past: content.dependencies().past });
  });

  async function read(query: string): Promise<number> {
    await queries.lists.list(type, parseListQuery({ type, hidden: NOTHING }, parseQuery(query), now));
    return blocks;
  }

  for (const sort of ['-created_at', 'created_at', 'title', '-title', 'n', '-n', '-n,title']) {
    it(`read as few rows for a later page as for the first page, sorted by ${sort}`, async () => {
      const seen = new Set<string>();
      const at = async (cursor: string) => {
        const parsed = parsePageQuery({
          access: { type, hidden: NOTHING },
          parameters: parseQuery(`sort=${sort}&limit=100&fields=n&cursor=${cursor}`),
          now,
          cursors: testCursors(type),
        });
        const page = await queries.lists.page(type, parsed);
        for (const { id } of JSON.parse(page.json) as readonly { readonly id: string }[]) seen.add(id);
        return {
          reads: blocks,
          next: page.last ? testCursors(type).encode(parsed, { ...page.last, walk: page.walk }) : '',
        };
      };
      const first = await at('');
      let { next } = first;
      let most = 0;
      for (let count = 1; count < ENTRIES / 100; count += 1) {
        const page = await at(next);
        most = Math.max(most, page.reads);
        ({ next } = page);
      }
      expect(seen.size).to.equal(ENTRIES);
      expect(first.reads).to.be.below(500);
      expect(most).to.be.below(first.reads * 2 + 100);
    });
  }

  it('read only matching rows for a filter on an indexed field and for a search of a rare word', async () => {
    for (const query of ['filters[n]=7', 'filters[title]=title 4711', 'q=word123', 'q=4711'])
      expect(await read(`${query}&limit=25`), query).to.be.below(400);
  });

  it('stop at the end of the page for a search of a word that every entry contains', async () => {
    expect(await read('q=common&limit=25')).to.be.below(1500);
  });
});
