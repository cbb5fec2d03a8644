import { expect } from 'chai';
import fc from 'fast-check';
import { parseListQuery, parsePageQuery } from '../../../../api/content/parse-list-query.ts';
import { parseQuery } from '../../../../api/http/query-string.ts';
import { changeEntry } from '../../../../application/content/change-entry.ts';
import { createEntry } from '../../../../application/content/create-entry.ts';
import { deleteEntry } from '../../../../application/content/delete-entry.ts';
import { transitionEntry } from '../../../../application/content/transition-entry.ts';
import { undeleteEntry } from '../../../../application/content/undelete-entry.ts';
import type { ContentType } from '../../../../domain/content/content-type.ts';
import type { JsonObject } from '../../../../domain/json.ts';
import { testContext, testCursors, useContent } from '../../../support/content.ts';

const NOTHING: ReadonlySet<string> = new Set();
const START = Date.parse('2026-03-01T00:00:00.000Z');
const later = () => new Date('2027-01-01T00:00:00Z');

type Listed = {
  readonly id: string;
  readonly version: number;
  readonly data: { readonly title: string | null; readonly n: number | null };
};
type Row = {
  id: string;
  title: string | null;
  n: number | null;
  status: string;
  deleted: boolean;
  createdAt: string;
  version: number;
};

/** Random actions on a few entries. The clock moves forward, backward or not at all before each. */
const actions = fc.array(
  fc.record({
    act: fc.constantFrom('create', 'change', 'change', 'change', 'publish', 'unpublish', 'delete', 'undelete'),
    which: fc.nat(5),
    n: fc.nat(4),
    ms: fc.integer({ min: -2, max: 5 }),
    project: fc.boolean(),
  }),
  { minLength: 4, maxLength: 30 },
);
type Actions = typeof actions extends fc.Arbitrary<infer T> ? T : never;

describe('lists at a point in time', () => {
  const content = useContent();
  let types: readonly ContentType[];
  let clock = START;
  const context = testContext({ now: () => new Date(clock) });

  before(async () => {
    const fields = [
      { name: 'title', field_type: 'text', indexed: true },
      { name: 'n', field_type: 'integer' },
    ] as const;
    types = [
      await content.save({ name: 'hard', with_draft_publish: true, fields }),
      await content.save({ name: 'soft', with_draft_publish: true, with_soft_delete: true, fields }),
    ];
  });

  /** Runs one action; skips it if the state does not allow it. */
  async function act(type: ContentType, ids: string[], { act: what, which, n }: Actions[number]): Promise<void> {
    const dependencies = content.dependencies();
    const id = ids[which % Math.max(1, ids.length)];
    const data: JsonObject = { title: `w${n} x`, n };
    try {
      if (what === 'create') ids.push((await createEntry({ type, data }, context, dependencies)).entry.id);
      else if (id === undefined) return;
      else if (what === 'change') await changeEntry({ type, id, data }, context, dependencies);
      else if (what === 'delete') await deleteEntry({ type, id }, context, dependencies);
      else if (what === 'undelete') await undeleteEntry({ type, id, fromHistory: true }, context, dependencies);
      else await transitionEntry({ type, id, transition: what }, context, dependencies);
    } catch (error) {
      if (!/not found|transition/.test(String(error))) throw error;
    }
  }

  /** The entries at a point in time, from the log by a simple reference implementation. */
  async function model(ids: readonly string[], moment: string): Promise<readonly Row[]> {
    const rows = new Map<string, Row>();
    for (const { type, data, stream, revision, metadata } of await content.log()) {
      const id = stream.slice(stream.indexOf('.') + 1);
      if (!ids.includes(id) || metadata.occurred_at > moment) continue;
      const row = rows.get(id) ?? {
        id,
        title: null,
        n: null,
        status: 'draft',
        deleted: false,
        createdAt: metadata.occurred_at,
        version: 0,
      };
      rows.set(id, row);
      row.version = revision + 1;
      if (type === 'EntryCreated' || type === 'EntryFieldsChanged') Object.assign(row, data['fields']);
      if (type === 'EntryPublished') row.status = 'published';
      if (type === 'EntryUnpublished') row.status = 'draft';
      if (type === 'EntryDeleted') row.deleted = true;
      if (type === 'EntryUndeleted') row.deleted = false;
    }
    return [...rows.values()].filter(({ deleted }) => !deleted);
  }

  async function walkPast(type: ContentType, query: string): Promise<Listed[]> {
    const seen: Listed[] = [];
    for (let cursor = ''; ;) {
      const parsed = parsePageQuery({
        access: { type, hidden: NOTHING },
        parameters: parseQuery(`${query}&cursor=${cursor}`),
        now: later,
        cursors: testCursors(type),
      });
      const page = await content.dependencies().lists.page(type, parsed);
      seen.push(...(JSON.parse(page.json) as Listed[]));
      if (!page.last || page.count < parsed.limit) return seen;
      cursor = testCursors(type).encode(parsed, { ...page.last, walk: page.walk });
    }
  }

  it('match the log at every point in time, filtered, sorted and searched', async function () {
    this.timeout(120_000);
    await fc.assert(
      fc.asyncProperty(
        actions,
        fc.boolean(),
        fc.array(fc.nat(1000), { minLength: 2, maxLength: 4 }),
        async (history, soft, picks) => {
          const type = types[soft ? 1 : 0]!;
          const ids: string[] = [];
          const before = clock;
          for (const action of history) {
            clock = Math.max(before, clock + action.ms);
            await act(type, ids, action);
            if (action.project) await content.project();
          }
          await content.project();
          const span = clock - before + 3;
          for (const pick of picks) {
            const asOf = new Date(before - 1 + (pick % span)).toISOString();
            const rows = await model(ids, asOf);
            const mine = `filters[_id][$in]=${ids.join(',') || '01890000-0000-7000-8000-000000000000'}&as_of=${asOf}`;
            const list = async (query: string) => {
              const parsed = parseListQuery({ type, hidden: NOTHING }, parseQuery(`${mine}&limit=200&${query}`), later);
              const [json, count] = await Promise.all([
                content.dependencies().lists.list(type, parsed),
                content.dependencies().lists.count(type, parsed),
              ]);
              const listed = JSON.parse(json) as Listed[];
              expect(count).to.equal(listed.length);
              return listed;
            };
            const shown = (listed: readonly Listed[]) =>
              listed.map(({ id, version, data }) => ({ id, version, ...data }));
            const wanted = (some: readonly Row[]) =>
              [...some]
                .sort((a, b) => (b.n ?? 0) - (a.n ?? 0) || (a.id < b.id ? 1 : -1))
                .map(({ id, version, title, n }) => ({ id, version, title, n }));
            const any = 'filters[_status][$in]=draft,published&sort=-n';
            expect(shown(await list(any))).to.deep.equal(wanted(rows));
            expect(shown(await list('sort=-n'))).to.deep.equal(
              wanted(rows.filter(({ status }) => status === 'published')),
            );
            expect(shown(await list(`${any}&filters[n][$gte]=2`))).to.deep.equal(
              wanted(rows.filter(({ n }) => (n ?? 0) >= 2)),
            );
            expect(shown(await list(`${any}&q=w1`))).to.deep.equal(
              wanted(rows.filter(({ title }) => title === 'w1 x')),
            );
            expect(shown(await walkPast(type, `${mine}&${any}&limit=2`))).to.deep.equal(wanted(rows));
          }
          clock += 10;
        },
      ),
      { numRuns: 20 },
    );
  });

  it('show every entry that is not deleted during a walk exactly once with its current values, even if its sort value changes', async function () {
    this.timeout(120_000);
    const sorts = ['-created_at', 'created_at', 'n', '-n', 'title', '-title,n', '-updated_at', 'updated_at'];
    await fc.assert(
      fc.asyncProperty(
        actions,
        fc.constantFrom(...sorts),
        fc.integer({ min: 1, max: 4 }),
        fc.boolean(),
        async (meanwhile, sort, limit, soft) => {
          const type = types[soft ? 1 : 0]!;
          const dependencies = content.dependencies();
          const ids: string[] = [];
          for (let n = 0; n < 9; n += 1) {
            clock += 1;
            ids.push(
              (await createEntry({ type, data: { title: `t${n % 3}`, n: n % 4 } }, context, dependencies)).entry.id,
            );
          }
          await content.project();
          const first = [...ids];
          const gone = new Set<string>();
          const queue = [...meanwhile];
          const seen: Listed[] = [];
          for (let cursor = ''; ;) {
            const query = `filters[_status][$in]=draft,published&filters[_created_at][$gt]=${new Date(clock - 9).toISOString()}&sort=${sort}&limit=${limit}&cursor=${cursor}`;
            const parsed = parsePageQuery({
              access: { type, hidden: NOTHING },
              parameters: parseQuery(query),
              now: later,
              cursors: testCursors(type),
            });
            const page = await dependencies.lists.page(type, parsed);
            const entries = (JSON.parse(page.json) as Listed[]).filter(({ id }) => ids.includes(id));
            for (const { id, version } of entries)
              expect((await dependencies.reads.load(type, id))?.version).to.equal(version);
            seen.push(...entries);
            if (!page.last || page.count < parsed.limit) break;
            cursor = testCursors(type).encode(parsed, { ...page.last, walk: page.walk });
            expect(testCursors(type).decode(parsed, cursor)).to.not.equal(undefined);
            for (const action of queue.splice(0, 4)) {
              // Change entries that stay while others are deleted.
              if (action.act === 'delete' && action.which % 2 === 0) continue;
              await act(type, ids, { ...action, which: action.which * 2 });
              await content.project();
              for (const id of ids) if (!(await dependencies.reads.load(type, id))) gone.add(id);
            }
          }
          const counts = new Map<string, number>();
          for (const { id } of seen) counts.set(id, (counts.get(id) ?? 0) + 1);
          expect(
            [...counts.values()].every((count) => count === 1),
            `repeated by ${sort}`,
          ).to.equal(true);
          expect(
            first.filter((id) => !gone.has(id) && !counts.has(id)),
            `skipped by ${sort}`,
          ).to.deep.equal([]);
          clock += 100;
        },
      ),
      { numRuns: 50 },
    );
  });
});
