import { expect } from 'chai';
import fc from 'fast-check';
import {
  type ListParameters,
  parseListQuery,
  parsePageQuery,
  wantsCount,
} from '../../../api/content/parse-list-query.ts';
import { parseQuery } from '../../../api/http/query-string.ts';
import { changeEntry } from '../../../application/content/change-entry.ts';
import { createEntry } from '../../../application/content/create-entry.ts';
import { deleteEntry } from '../../../application/content/delete-entry.ts';
import type { ContentType } from '../../../domain/content/content-type.ts';
import { positionFrom } from '../../../domain/event.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { testContext, testCursors, useContent } from '../../support/content.ts';

const NOTHING: ReadonlySet<string> = new Set();
const now = () => new Date('2026-04-01T00:00:00Z');
type Listed = { readonly id: string; readonly data: Readonly<Record<string, unknown>> };

/** Parses a query string as the HTTP layer does. */
function parameters(query: string): ListParameters {
  return parseQuery(query);
}

describe('lists of entries', () => {
  const content = useContent();
  const context = testContext();
  let type: ContentType;
  let kinds: ContentType;
  const ids: string[] = [];

  const ROWS: readonly JsonObject[] = [
    { title: 'alpha', views: 1, price: '1.50', hot: true, at: '2026-01-01T00:00:00Z', day: '2026-01-01', tags: [1] },
    { title: 'beta', views: 2, price: '10', hot: false, at: '2026-01-02T00:00:00Z', day: '2026-01-02' },
    { title: 'Beta 100%_\\', views: 2, rating: 0.5 },
    { title: '', views: 9007199254740991, rating: -1e300 },
    { title: 'x'.repeat(3000) },
  ];

  before(async () => {
    type = await content.save({
      name: 'article',
      fields: [
        { name: 'title', field_type: 'text', indexed: true },
        { name: 'views', field_type: 'integer' },
        { name: 'price', field_type: 'decimal' },
        { name: 'rating', field_type: 'number' },
        { name: 'hot', field_type: 'boolean' },
        { name: 'at', field_type: 'datetime' },
        { name: 'day', field_type: 'date' },
        { name: 'tags', field_type: 'json' },
        { name: 'secret', field_type: 'text' },
      ],
    });
    kinds = await content.save({
      name: 'page',
      with_draft_publish: true,
      with_soft_delete: true,
      fields: [{ name: 'n', field_type: 'integer' }],
    });
    for (const data of ROWS) ids.push((await createEntry({ type, data }, context, content.dependencies())).entry.id);
    await content.project();
  });

  async function list(query: string, hidden = NOTHING): Promise<Listed[]> {
    return JSON.parse(
      await content.dependencies().lists.list(type, parseListQuery({ type, hidden }, parameters(query), now)),
    ) as Listed[];
  }
  /** Indexes in ROWS of the entries that match, in order of creation. */
  const matching = async (query: string) => (await list(`${query}&sort=created_at`)).map(({ id }) => ids.indexOf(id));
  const refused = (query: string, hidden = NOTHING) => {
    try {
      parseListQuery({ type, hidden }, parameters(query), now);
    } catch (error) {
      return (error as Error).message;
    }
    return 'accepted';
  };

  const FILTERS: readonly (readonly [query: string, rows: readonly number[]])[] = [
    ['filters[title]=beta', [1]],
    ['filters[title]=', [3]],
    [`filters[title]=${'x'.repeat(3000)}`, [4]],
    ['filters[title][$ne]=beta', [0, 2, 3, 4]],
    ['filters[price][$ne]=10', [0, 2, 3, 4]],
    ['filters[views][$gt]=1&filters[views][$lt]=3', [1, 2]],
    ['filters[views][$gte]=2&filters[views][$lte]=2', [1, 2]],
    ['filters[views]=9007199254740991', [3]],
    ['filters[price]=1.5', [0]],
    ['filters[price][$between]=1,9.99', [0]],
    ['filters[rating][$lt]=0', [3]],
    ['filters[views][$in]=1,2', [0, 1, 2]],
    ['filters[views][$in]=1&filters[views][$in]=7', [0]],
    ['filters[views][$notIn]=1,2', [3, 4]],
    ['filters[title][$in][]=alpha&filters[title][$in][]=beta', [0, 1]],
    ['filters[title][$contains]=eta', [1, 2]],
    ['filters[title][$contains]=%25_', [2]],
    ['filters[title][$startsWith]=Beta', [2]],
    ['filters[title][$endsWith]=\\', [2]],
    ['filters[hot]=true', [0]],
    ['filters[at][$gte]=2026-01-02', [1]],
    ['filters[at]=2026-01-01T01:00:00%2B01:00', [0]],
    ['filters[day][$lt]=2026-01-02', [0]],
    ['filters[tags][$null]=true', [1, 2, 3, 4]],
    ['filters[tags][$null]=false', [0]],
    ['filters[hot][$notNull]=true', [0, 1]],
    ['filters[_created_at][$gt]=2027-01-01T00:00:00Z', []],
    ['filters[_version]=1', [0, 1, 2, 3, 4]],
    ["filters[title]='; drop table rm_content.article; --", []],
  ];
  for (const [query, rows] of FILTERS) {
    it(`finds rows ${rows.join(' ') || 'none'} by ${query.slice(0, 60)}`, async () => {
      expect(await matching(query)).to.deep.equal(rows);
    });
  }

  it('refuses an unknown field or operator and a value of another type, naming the parameter', () => {
    for (const [query, name] of [
      ['filters[nope]=1', 'filters[nope]'],
      ['filters[title][$like]=1', 'filters[title][$like]'],
      ['filters[title][$eq][x]=1', 'filters[title][$eq]'],
      ['filters[title][toString]=1', 'filters[title][toString]'],
      ['filters[views]=one', 'filters[views]'],
      ['filters[views]=9007199254740993', 'filters[views]'],
      ['filters[views][$in]=1,x', 'filters[views][$in]'],
      ['filters[views][$between]=1', 'filters[views][$between]'],
      ['filters[hot][$gt]=true', 'filters[hot][$gt]'],
      ['filters[views][$contains]=1', 'filters[views][$contains]'],
      ['filters[tags]=1', 'filters[tags]'],
      ['filters[at]=yesterday', 'filters[at]'],
      ['filters[title]=a&filters[title]=b', 'filters[title]'],
      ['filters=x', 'filters'],
      ['sort=nope', 'sort'],
      ['sort=tags', 'sort'],
      ['sort=views,views', 'sort'],
      ['sort=', 'sort'],
      ['fields=nope', 'fields'],
      ['limit=0', 'limit'],
      ['limit=201', 'limit'],
      ['limit=x', 'limit'],
      ['offset=-1', 'offset'],
      ['offset=1.5', 'offset'],
    ] as const)
      expect(refused(query), query).to.equal(`invalid query parameter: ${name}`);
    expect(() => wantsCount({ count: 'yes' })).to.throw('invalid query parameter: count');
  });

  it('treats a masked field as unknown, and leaves it out of the answer', async () => {
    const hidden = new Set(['secret']);
    for (const query of ['filters[secret]=x', 'sort=secret', 'fields=secret'])
      expect(refused(query, hidden)).to.match(/^invalid query parameter/);
    expect(Object.keys((await list('limit=1', hidden))[0]!.data)).to.not.include('secret');
  });

  it('sorts the newest first, or by the keys in sort', async () => {
    const order = async (query: string) => (await list(query)).map(({ id }) => ids.indexOf(id));
    expect(await order('')).to.deep.equal([4, 3, 2, 1, 0]);
    expect(await order('sort=views,-created_at')).to.deep.equal([0, 2, 1, 3, 4]);
    expect(await order('sort=-views,created_at')).to.deep.equal([4, 3, 1, 2, 0]);
    expect(await order('sort=-created_at&limit=2&offset=1')).to.deep.equal([3, 2]);
  });

  it('returns only the fields that fields names', async () => {
    const [entry] = await list('fields=title,views,slug&limit=1&filters[views]=1');
    expect(entry!.data).to.deep.equal({ title: 'alpha', views: 1 });
    expect(entry).to.include.keys('id', 'version');
  });

  it('counts all matches, not only those of the page', async () => {
    const query = parseListQuery({ type, hidden: NOTHING }, parameters('filters[views]=2&limit=1'), now);
    expect(await content.dependencies().lists.count(type, query)).to.equal(2);
  });

  it('returns an empty array for an empty list', async () => {
    expect(await list('filters[title]=none')).to.deep.equal([]);
  });

  describe('by cursor', () => {
    async function page(of: ContentType, query: string): Promise<{ data: Listed[]; next: string }> {
      const parsed = parsePageQuery({
        access: { type: of, hidden: NOTHING },
        parameters: parameters(query),
        now,
        cursors: testCursors(of),
      });
      const { json, count, last, walk } = await content.dependencies().lists.page(of, parsed);
      return {
        data: JSON.parse(json) as Listed[],
        next: last && count === parsed.limit ? testCursors(of).encode(parsed, { ...last, walk }) : '',
      };
    }

    async function walk(
      of: ContentType,
      query: string,
      meanwhile: (step: number) => Promise<void> = () => Promise.resolve(),
    ): Promise<string[]> {
      const seen: string[] = [];
      for (let cursor = '', step = 0; ; step += 1) {
        const { data, next } = await page(of, `${query}&cursor=${cursor}`);
        seen.push(...data.map(({ id }) => id));
        if (next === '') return seen;
        cursor = next;
        await meanwhile(step);
      }
    }

    for (const sort of [
      '-created_at',
      'created_at',
      'title',
      '-title',
      'views',
      '-views',
      'price,-views',
      '-rating,title',
      'hot',
      '-at',
      'day,-created_at',
      'id',
      '-id',
    ]) {
      it(`returns every entry once in the order of the list, sorted by ${sort}`, async () => {
        const whole = (await list(`sort=${sort}`)).map(({ id }) => id);
        for (const limit of [1, 2, 5]) expect(await walk(type, `sort=${sort}&limit=${limit}`)).to.deep.equal(whole);
      });
    }

    it('ends with an empty page when the number of entries is a multiple of limit', async () => {
      const first = await page(type, 'limit=5');
      expect(first.next).to.not.equal('');
      expect(await page(type, `limit=5&cursor=${first.next}`)).to.deep.equal({ data: [], next: '' });
    });

    it('neither repeats nor skips an entry while others are created, changed and deleted', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(fc.constantFrom('create', 'delete', 'change'), fc.nat(30)), { maxLength: 12 }),
          fc.integer({ min: 1, max: 4 }),
          async (actions, limit) => {
            const dependencies = content.dependencies();
            const made: string[] = [];
            for (let n = 0; n < 12; n += 1)
              made.push((await createEntry({ type: kinds, data: { n: n % 5 } }, context, dependencies)).entry.id);
            await content.project();
            const staying = new Set(made.slice(0, 8));
            const movable = made.slice(8);
            const queue = [...actions];
            const seen = await walk(
              kinds,
              `sort=-n&limit=${limit}&filters[_status]=draft&filters[_id][$in]=${made.join(',')}`,
              async () => {
                const [action, n] = queue.shift() ?? ['none', 0];
                const target = movable[n % movable.length]!;
                if (action === 'create') await createEntry({ type: kinds, data: { n } }, context, dependencies);
                if (action === 'change')
                  await changeEntry({ type: kinds, id: target, data: { n } }, context, dependencies).catch(
                    () => undefined,
                  );
                if (action === 'delete')
                  await deleteEntry({ type: kinds, id: target }, context, dependencies).catch(() => undefined);
                await content.project();
              },
            );
            const stayed = seen.filter((id) => staying.has(id));
            expect(stayed).to.have.length(staying.size);
            expect(new Set(stayed).size).to.equal(staying.size);
          },
        ),
        { numRuns: 8 },
      );
    });

    it('uses a limit of 20 by default and above 1000, and refuses anything but a number from 1', () => {
      const limitOf = (query: string) =>
        parsePageQuery({
          access: { type, hidden: NOTHING },
          parameters: parameters(query),
          now,
          cursors: testCursors(type),
        }).limit;
      expect(['', 'limit=1000', 'limit=1001', 'limit=99999999'].map(limitOf)).to.deep.equal([20, 1000, 20, 20]);
      for (const bad of ['0', '-1', 'x', ''])
        expect(() => limitOf(`limit=${bad}`)).to.throw('invalid query parameter: limit');
    });

    it('decodes its own cursors and refuses any other text', () => {
      const cursors = testCursors(type);
      const list = parsePageQuery({
        access: { type, hidden: NOTHING },
        parameters: parameters('sort=-views,title'),
        now,
        cursors: testCursors(type),
      });
      const id = ids[0]!;
      const walk = positionFrom(7);
      fc.assert(
        fc.property(
          fc.option(fc.integer()),
          fc.option(fc.string({ maxLength: 255, unit: 'grapheme' })),
          (views, title) => {
            const values = [views === null ? null : String(views), title?.replaceAll('\0', '') ?? null];
            expect(cursors.decode(list, cursors.encode(list, { values, id, walk }))).to.deep.equal({
              values,
              id,
              walk,
            });
          },
        ),
      );
      fc.assert(fc.property(fc.string(), (text) => cursors.decode(list, text) === undefined));
      fc.assert(
        fc.property(fc.json(), (text) => cursors.decode(list, Buffer.from(text).toString('base64url')) === undefined),
      );
      const [place = '', signature = ''] = cursors.encode(list, { values: ['1', 'a'], id, walk }).split('.');
      const earlier = Buffer.from(place, 'base64url').toString().replace(walk, positionFrom(6));
      const forged = `${Buffer.from(earlier).toString('base64url')}.${signature}`;
      const other = parsePageQuery({
        access: { type, hidden: NOTHING },
        parameters: parameters('sort=views,title'),
        now,
        cursors: testCursors(type),
      });
      for (const cursor of [
        cursors.encode(other, { values: ['1', 'a'], id }),
        cursors.encode(list, { values: ['1; drop', 'a'], id }),
        cursors.encode(list, { values: ['1', 'a'], id: 'x' }),
        cursors.encode({ ...list, asOf: '2026-03-01T00:00:00.000Z' }, { values: ['1', 'a'], id }),
        testCursors({ id }).encode(list, { values: ['1', 'a'], id }),
        forged,
        place,
        '!',
        'e30',
      ]) {
        expect(() =>
          parsePageQuery({
            access: { type, hidden: NOTHING },
            parameters: { sort: '-views,title', cursor },
            now,
            cursors,
          }),
        ).to.throw('invalid query parameter: cursor');
      }
    });
  });
});
