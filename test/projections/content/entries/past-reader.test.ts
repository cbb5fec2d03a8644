import { expect } from 'chai';
import { parseListQuery } from '../../../../api/content/parse-list-query.ts';
import { changeEntry } from '../../../../application/content/change-entry.ts';
import { createEntry } from '../../../../application/content/create-entry.ts';
import { createPastState } from '../../../../application/content/past-state.ts';
import type { ContentType } from '../../../../domain/content/content-type.ts';
import { isAppError } from '../../../../domain/errors.ts';
import { createEntryQueries } from '../../../../projections/content/entries/entry-queries.ts';
import { type PastReaderOptions, createPastReader } from '../../../../projections/content/entries/past-reader.ts';
import { sweepPastSets } from '../../../../projections/content/entries/past-sets.ts';
import { testContext, useContent } from '../../../support/content.ts';
import { gate } from '../../../support/gate.ts';
import { rejectionOf } from '../../../support/rejection.ts';

const NOTHING: ReadonlySet<string> = new Set();

describe('gathering the entries of a point in time', () => {
  const content = useContent();
  let type: ContentType;
  const ids: string[] = [];
  const context = testContext();

  before(async () => {
    type = await content.save({ name: 'thing', fields: [{ name: 'n', field_type: 'integer' }] });
    for (let n = 0; n < 6; n += 1)
      ids.push((await createEntry({ type, data: { n } }, context, content.dependencies())).entry.id);
    await content.project();
  });

  const state: PastReaderOptions['stateAt'] = (...given) =>
    createPastState({ eventStore: content.eventStore() })(...given);
  const now = () => context.now();
  async function change(id: string): Promise<void> {
    await changeEntry(
      { type, id, data: { n: 100 + (context.now().getTime() % 1e6) } },
      context,
      content.dependencies(),
    );
    await content.project();
  }
  /** Reads the values of `n` at a point in time, in order, through its own past reader. */
  function reader(options: Omit<PastReaderOptions, 'database'>) {
    const { lists } = createEntryQueries({
      database: content.database(),
      past: createPastReader({ database: content.database(), ...options }),
    });
    return async (asOf: string) =>
      (
        JSON.parse(
          await lists.list(type, { ...parseListQuery({ type, hidden: NOTHING }, { sort: 'n', as_of: asOf }, now) }),
        ) as { data: { n: number } }[]
      ).map(({ data }) => data.n);
  }

  it('is correct while entries change concurrently', async () => {
    const asOf = context.now().toISOString();
    await change(ids[0]!);
    let changes = 0;
    const list = reader({
      async stateAt(...given) {
        changes += 1;
        if (changes <= 5) await change(ids[changes]!);
        return state(...given);
      },
    });
    expect(await list(asOf)).to.deep.equal([0, 1, 2, 3, 4, 5]);
    expect(changes).to.be.greaterThan(3);
  });

  it('answers 503 with Retry-After while it takes long, continues, and serves all requests with one run', async () => {
    const asOf = context.now().toISOString();
    for (const id of ids) await change(id);
    const released = gate();
    let folded = 0;
    const list = reader({
      waitMs: 5,
      async stateAt(...given) {
        await released.opened;
        folded += 1;
        return state(...given);
      },
    });
    const refused = await Promise.all([1, 2].map(() => rejectionOf(list(asOf))));
    for (const error of refused)
      expect(isAppError(error) && [error.code, error.headers]).to.deep.equal([
        'past_not_ready',
        { 'Retry-After': '2' },
      ]);
    released.open();
    let found: readonly number[] = [];
    while (found.length === 0) found = await list(asOf).catch(() => []);
    expect(found).to.have.length(6);
    await list(asOf);
    expect(folded).to.equal(6);
  });

  it('fails only the waiting requests when a stream cannot be read', async () => {
    const asOf = context.now().toISOString();
    await change(ids[0]!);
    let failing = true;
    const list = reader({ stateAt: (...given) => (failing ? Promise.reject(new Error('away')) : state(...given)) });
    expect(
      await list(asOf).then(
        () => 'read',
        (error: unknown) => (error as Error).message,
      ),
    ).to.equal('away');
    failing = false;
    expect(await list(asOf)).to.have.length(6);
  });

  describe('within the bounds of a tenant', () => {
    const kept = async () => {
      const db = content.database();
      const sets = await db.query<{ id: number; bytes: number }>(
        'select id, bytes from operational.past_sets where tenant_id = $1 order by id',
        ['default'],
      );
      const [orphans] = await db.query<{ count: number }>(
        'select count(*) as count from operational.past_entries where set_id not in (select id from operational.past_sets)',
      );
      expect(orphans?.count).to.equal(0);
      return sets;
    };
    let times: readonly string[] = [];
    beforeEach(async () => {
      await content.database().query('delete from operational.past_sets');
      const given: string[] = [];
      for (const id of ids) {
        given.push(context.now().toISOString());
        await change(id);
      }
      times = given;
    });

    it('keeps the sets that were used last, with their rows, and gathers a deleted one again', async () => {
      const list = reader({ stateAt: state, bounds: { sets: 3, bytes: 1e9 } });
      const first = await list(times[0]!);
      for (const time of times) expect(await list(time)).to.have.length(6);
      expect(await kept()).to.have.length(3);
      expect(await list(times[0]!)).to.deep.equal(first);
      expect(await kept()).to.have.length(3);
    });

    it('deletes sets that are too large together', async () => {
      const list = reader({ stateAt: state, bounds: { sets: 100, bytes: 3_000 } });
      for (const time of times) expect(await list(time)).to.have.length(6);
      const sets = await kept();
      // The last set may exceed the bounds together with the others.
      const others = sets.slice(0, -1).reduce((sum, { bytes }) => sum + bytes, 0);
      expect(others).to.be.at.most(3_000);
      expect(sets.at(-1)?.bytes).to.be.greaterThan(0);
      expect(sets.length).to.be.below(times.length);
    });

    it('reads correctly when its set is deleted before and while it is gathered', async () => {
      let deleting = false;
      const list = reader({
        stateAt: async (...given) => {
          if (deleting) await content.database().query('delete from operational.past_sets');
          deleting = false;
          return state(...given);
        },
      });
      const first = await list(times[0]!);
      await content.database().query('delete from operational.past_sets');
      expect(await list(times[0]!)).to.deep.equal(first);
      deleting = true;
      expect(await list(times[1]!)).to.have.length(6);
      expect(deleting).to.equal(false);
    });

    it('gathers one set at a time, and refuses when too many wait', async () => {
      const released = gate();
      const begun = new Set<string>();
      const list = reader({
        waitMs: 20,
        stateAt: async (of, id, moment) => {
          begun.add(JSON.stringify(moment));
          await released.opened;
          return state(of, id, moment);
        },
      });
      const ends = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          list(new Date(Date.parse(times[0]!) + index).toISOString()).catch((error: unknown) => error),
        ),
      );
      for (const end of ends) expect(isAppError(end) && end.code).to.equal('past_not_ready');
      expect(begun.size).to.equal(1);
      released.open();
      let found: unknown;
      while (!Array.isArray(found)) found = await list(times[0]!).catch(() => undefined);
      expect(found).to.have.length(6);
    });
  });

  it('is deleted ten minutes after its last use', async () => {
    const db = content.database();
    await reader({ stateAt: state })(new Date(context.now().getTime() - 1_000).toISOString());
    const rows = async () =>
      (await db.query<{ count: number }>('select count(*) as count from operational.past_entries'))[0]!.count;
    expect(await rows()).to.be.greaterThan(0);
    expect(await sweepPastSets({ database: db })).to.equal(0);
    await db.query(`update operational.past_sets set used_at = now() - interval '11 minutes'`);
    expect(await sweepPastSets({ database: db })).to.be.greaterThan(0);
    expect(await rows()).to.equal(0);
  });
});
