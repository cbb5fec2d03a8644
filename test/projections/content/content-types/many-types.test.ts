import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import type { Database } from '../../../../infrastructure/postgres/database.ts';
import { createLeases } from '../../../../infrastructure/postgres/leases.ts';
import { contentProjection } from '../../../../projections/content/projection.ts';
import { rebuild } from '../../../../projections/engine/rebuild.ts';
import { replay } from '../../../../projections/engine/replay.ts';
import { useDatabase } from '../../../support/database.ts';
import { type Log, openLog, positionOf } from '../../../support/open-log.ts';
import { createTestEngine } from '../../../support/test-engine.ts';

const TYPES = 250;
/** A transaction changes at most 100 tables; each needs about 15 locks: itself, indexes, long values and view. */
const MAX_LOCKS = 2_000;

describe('the read models of many content types', () => {
  const database = useDatabase();
  const elsewhere = useDatabase();

  function logOfTypes(): Log {
    const log = openLog();
    log.append(
      ...Array.from({ length: TYPES }, (_, n) => {
        const id = randomUUID();
        const fields = [{ id: randomUUID(), name: 'title', field_type: 'text', indexed: n % 100 === 0 }];
        const definition = { name: `t${String(n)}`, fields };
        const data = { type_id: id, definition, statements: [], canceled: [], retained: [] };
        return { stream: `content_type-default.${id}`, type: 'ContentTypeSaved', data };
      }),
    );
    return log;
  }

  /** Records the number of locks that each transaction holds at its end. */
  function countingLocks(db: Database): { readonly db: Database; readonly locks: number[] } {
    const locks: number[] = [];
    const transaction: Database['transaction'] = (work, options) =>
      db.transaction(async (tx) => {
        const result = await work(tx);
        const [row] = await tx.query<{ count: number }>(
          'select count(*)::int as count from pg_locks where pid = pg_backend_pid()',
        );
        locks.push(row?.count ?? 0);
        return result;
      }, options);
    return { db: { ...db, transaction }, locks };
  }

  it('are filled, compared, swapped in and replayed by transactions with a bounded number of locks', async function () {
    this.timeout(120_000);
    const log = logOfTypes();
    const [here, there] = [countingLocks(database.db()), countingLocks(elsewhere.db())];
    const engine = createTestEngine({
      database: here.db,
      eventStore: log.eventStore,
      projections: [contentProjection],
    });
    await engine.prepare();
    engine.start();
    expect(await engine.progress.waitFor(['content'], positionOf(TYPES), 60_000)).to.equal(true);
    const options = {
      database: here.db,
      eventStore: log.eventStore,
      projection: contentProjection,
      leases: createLeases({ database: database.db(), owner: randomUUID(), ttlMs: 10_000 }),
    };
    const report = await rebuild(options);
    expect(report).to.include({ outcome: 'equal' });
    expect(report.tables.length).to.be.greaterThan(TYPES);
    const onLive = `select count(*)::int as count from pg_views where schemaname = 'content' and definition like '%rm_content.%'`;
    expect(await database.db().query(onLive)).to.deep.equal([{ count: TYPES }]);
    expect(await database.db().query(`select 1 from pg_namespace where nspname ~ '^rm_content_'`)).to.deep.equal([]);
    await engine.stop();

    const replayed = await replay({ to: there.db, eventStore: log.eventStore, projections: [contentProjection] });
    expect(replayed.tables.map(({ table, rows, checksum }) => ({ table, rows, checksum }))).to.deep.equal(
      report.tables,
    );
    expect(Math.max(...here.locks, ...there.locks)).to.be.lessThan(MAX_LOCKS);
  });

  it('are rebuilt although a process that ended has left a replaced schema and one half filled', async () => {
    const log = openLog();
    const engine = createTestEngine({
      database: database.db(),
      eventStore: log.eventStore,
      projections: [contentProjection],
    });
    await database.db().query('create schema rm_content_old; create table rm_content_old.t (a int)');
    await database.db().query('create schema rm_content_next; create table rm_content_next.t (a int)');
    await engine.prepare();
    engine.start();
    const options = { database: database.db(), eventStore: log.eventStore, projection: contentProjection, force: true };
    const leases = createLeases({ database: database.db(), owner: randomUUID(), ttlMs: 10_000 });
    expect((await rebuild({ ...options, leases })).outcome).to.be.oneOf(['equal', 'replaced']);
    await engine.stop();
    expect(await database.db().query(`select 1 from pg_namespace where nspname ~ '^rm_content_'`)).to.deep.equal([]);
  });
});
