import { expect } from 'chai';
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { createLeases } from '../../../infrastructure/postgres/leases.ts';
import { digest } from '../../../projections/engine/digest.ts';
import type { ProjectionEngine } from '../../../projections/engine/engine.ts';
import type { RebuildProgress } from '../../../projections/engine/fill-next-schema.ts';
import type { InTransaction, Target } from '../../../projections/engine/projection.ts';
import { type RebuildOptions, type RebuildReport, rebuild } from '../../../projections/engine/rebuild.ts';
import { replay } from '../../../projections/engine/replay.ts';
import { useDatabase } from '../../support/database.ts';
import { gate } from '../../support/gate.ts';
import { type Log, openLog, positionOf } from '../../support/open-log.ts';
import { rejectionOf } from '../../support/rejection.ts';
import { createTestEngine } from '../../support/test-engine.ts';
import { note, notes } from './notes.ts';

describe('rebuild and replay', () => {
  const database = useDatabase();
  const elsewhere = useDatabase();
  let log: Log;
  let service: ProjectionEngine;

  function rebuildNotes(options: Partial<RebuildOptions> = {}): Promise<RebuildReport> {
    const db = database.db();
    return rebuild({
      database: db,
      eventStore: log.eventStore,
      projection: notes(),
      leases: createLeases({ database: db, owner: randomUUID(), ttlMs: 2_000 }),
      ...options,
    });
  }

  beforeEach(async () => {
    log = openLog();
    service = createTestEngine({ database: database.db(), eventStore: log.eventStore, projections: [notes()] });
    await service.prepare();
    service.start();
  });

  afterEach(async () => {
    await service.stop();
    for (const schema of ['rm_notes', 'rm_notes_next', 'rm_notes_old']) {
      await database.db().query(`drop schema if exists ${schema} cascade`);
      await elsewhere.db().query(`drop schema if exists ${schema} cascade`);
    }
    await database.db().query('truncate operational.leases, operational.checkpoints, operational.projections');
  });

  it('compares the rebuilt tables at one position and swaps them in while the live read model advances and answers every read', async () => {
    log.append(...Array.from({ length: 4_000 }, (_, n) => note(n % 300, `title ${String(n)}`)));
    await service.progress.waitFor(['notes'], positionOf(4_000), 5_000);
    const [before] = await database.db().query<{ oid: number }>(`select 'rm_notes.notes'::regclass::oid as oid`);

    let rebuilding = true;
    let reads = 0;
    let writes = 0;
    let last = 0;
    const reader = (async () => {
      while (rebuilding) {
        const [row] = await database
          .db()
          .query<{ changes: number }>('select sum(changes)::int as changes from rm_notes.notes', [], 'reader');
        expect(row?.changes).to.be.at.least(last);
        last = row?.changes ?? 0;
        reads += 1;
      }
    })();
    const writer = (async () => {
      while (rebuilding) {
        const position = log.append(note(writes, 'while rebuilding'));
        writes += 1;
        expect(await service.progress.waitFor(['notes'], position, 5_000)).to.equal(true);
      }
    })();
    const seen: RebuildProgress[] = [];
    const report = await rebuildNotes({ maxBatch: 250, onProgress: (progress) => seen.push(progress) });
    rebuilding = false;
    await Promise.all([reader, writer]);

    expect(report).to.include({ projection: 'notes', outcome: 'equal' });
    expect(report.differences).to.deep.equal([]);
    expect(report.tables.map(({ table }) => table)).to.deep.equal(['notes', 'tenants']);
    expect(report.tables[0]?.checksum).to.match(/^[0-9a-f]{32}$/);
    expect(seen.some(({ phase }) => phase === 'filling')).to.equal(true);
    expect(reads).to.be.greaterThan(3);
    const [after] = await database.db().query<{ oid: number }>(`select 'rm_notes.notes'::regclass::oid as oid`);
    expect(after?.oid).to.not.equal(before?.oid);
    const position = log.append(note(1, 'after'));
    expect(await service.progress.waitFor(['notes'], position, 5_000)).to.equal(true);
    expect(await database.db().query('select sum(changes)::int as changes from rm_notes.notes')).to.deep.equal([
      { changes: 4_001 + writes },
    ]);
    expect(
      await database.db().query(`select nspname from pg_namespace where nspname like 'rm\\_notes%'`),
    ).to.deep.equal([{ nspname: 'rm_notes' }]);
  });

  it('reports a read model that differs from its log and keeps it unless forced', async () => {
    await service.progress.waitFor(['notes'], log.append(note(1, 'a'), note(2, 'b')), 5_000);
    await database.db().query(`update rm_notes.notes set title = 'tampered' where note = 2`);
    const refused = await rebuildNotes();
    expect(refused.outcome).to.equal('differs');
    expect(refused.differences.map(({ table }) => table)).to.deep.equal(['notes']);
    expect(await database.db().query('select title from rm_notes.notes where note = 2')).to.deep.equal([
      { title: 'tampered' },
    ]);
    expect((await rebuildNotes({ force: true })).outcome).to.equal('replaced');
    expect(await database.db().query('select title from rm_notes.notes where note = 2')).to.deep.equal([
      { title: 'b' },
    ]);
  });

  it('rebuilds without a running service', async () => {
    await service.progress.waitFor(['notes'], log.append(note(1, 'a')), 5_000);
    await service.stop();
    log.append(note(2, 'b'));
    expect((await rebuildNotes()).outcome).to.equal('equal');
  });

  it('keeps the live read model unchanged after an error that concerns all streams', async () => {
    await service.progress.waitFor(['notes'], log.append(note(1, 'a')), 5_000);
    const failed = await rejectionOf(
      rebuildNotes({
        projection: { ...notes(), apply: () => Promise.reject(Object.assign(new Error('no'), { code: '42501' })) },
      }),
    );
    expect(failed).to.be.an('error');
    expect(await service.progress.waitFor(['notes'], log.append(note(1, 'b')), 5_000)).to.equal(true);
  });

  it('starts over after an interrupted rebuild', async () => {
    await service.progress.waitFor(['notes'], log.append(...Array.from({ length: 50 }, (_, n) => note(n, 'a'))), 5_000);
    const cut = new AbortController();
    const failed = await rejectionOf(
      rebuildNotes({
        maxBatch: 10,
        signal: cut.signal,
        onProgress: () => {
          cut.abort(new Error('interrupted'));
        },
      }),
    );
    expect(failed).to.have.property('message', 'interrupted');
    expect((await rebuildNotes()).outcome).to.equal('equal');
  });

  it('prevents an earlier rebuild that was suspended from writing into a later one', async () => {
    await service.progress.waitFor(['notes'], log.append(...Array.from({ length: 50 }, (_, n) => note(n, 'a'))), 5_000);
    const suspended = gate();
    const resumed = gate();
    let batches = 0;
    const leases = createLeases({ database: database.db(), owner: randomUUID(), ttlMs: 60_000 });
    const early = rejectionOf(
      rebuildNotes({
        leases,
        maxBatch: 10,
        projection: notes({
          async before() {
            batches += 1;
            if (batches !== 2) return;
            suspended.open();
            await resumed.opened;
          },
        }),
      }),
    );
    await suspended.opened;
    await database
      .db()
      .query(
        `update operational.leases set expires_at = clock_timestamp() - interval '1 second' where name = 'rebuild/notes'`,
      );
    expect((await rebuildNotes()).outcome).to.equal('equal');
    resumed.open();
    // The tables that it wrote no longer exist; it reports the lost lease as the cause.
    expect(await early).to.have.property('code', 'lease_lost');
    expect(await database.db().query('select sum(changes)::int as changes from rm_notes.notes')).to.deep.equal([
      { changes: 50 },
    ]);
  });

  it('recreates views outside the schema on the tables that were swapped in', async () => {
    const projection = {
      ...notes(),
      async afterSwap(run: InTransaction, { schema }: Target) {
        await run((tx) => tx.query(`create or replace view public.titles as select note, title from ${schema}.notes`));
      },
    };
    await service.progress.waitFor(['notes'], log.append(note(1, 'a')), 5_000);
    expect((await rebuildNotes({ projection })).outcome).to.equal('equal');
    expect((await rebuildNotes({ projection })).outcome).to.equal('equal');
    await service.progress.waitFor(['notes'], log.append(note(1, 'b')), 5_000);
    expect(await database.db().query('select * from public.titles')).to.deep.equal([{ note: 1, title: 'b' }]);
  });

  it('runs two concurrent rebuilds one after the other', async () => {
    await service.progress.waitFor(['notes'], log.append(note(1, 'a'), note(2, 'b')), 5_000);
    expect((await Promise.all([rebuildNotes(), rebuildNotes()])).map(({ outcome }) => outcome)).to.deep.equal([
      'equal',
      'equal',
    ]);
  });

  it('replays into an empty database with the digests of the live read model, up to a position or a time, or for one tenant', async () => {
    log.append(
      ...Array.from({ length: 90 }, (_, n) => note(n % 20, `title ${String(n)}`, n % 3 === 0 ? 'acme' : 'default')),
    );
    await service.progress.waitFor(['notes'], positionOf(90), 5_000);
    const db = database.db();
    const fresh = async (
      options: Partial<Parameters<typeof replay>[0]>,
    ): Promise<Awaited<ReturnType<typeof replay>>> => {
      await elsewhere.db().query('drop schema if exists rm_notes cascade');
      return replay({ to: elsewhere.db(), eventStore: log.eventStore, projections: [notes()], ...options });
    };
    const bare = (tables: readonly object[]): readonly object[] =>
      tables.map((table) => ({ ...table, projection: 'notes' }));

    const whole = await fresh({});
    const live = await digest({ database: db, projection: notes() });
    expect(whole).to.deep.include({ position: positionOf(90), events: 90 });
    expect(whole.tables).to.deep.equal(bare(live.tables));
    const acme = await fresh({ tenant: 'acme' });
    expect(acme.events).to.equal(30);
    expect(acme.tables).to.deep.equal(
      bare((await digest({ database: db, projection: notes(), tenant: 'acme' })).tables),
    );

    const half = await fresh({ until: positionOf(45) });
    expect(half).to.deep.include({ position: positionOf(45), events: 45 });
    expect(half.tables).to.not.deep.equal(whole.tables);
    const moment = await fresh({ until: new Date(log.events[44]!.recorded_at) });
    expect(moment.events).to.equal(45);
    expect(moment.tables).to.deep.equal(half.tables);
    expect((await fresh({ until: new Date(0) })).events).to.equal(0);
  });

  it('refuses to replay into a database that contains the read model', async () => {
    const refused = await rejectionOf(
      replay({ to: database.db(), eventStore: log.eventStore, projections: [notes()] }),
    );
    expect(refused).to.include({ code: 'bad_request' });
  });

  it('produces the same digest with any batch size', async function () {
    this.timeout(60_000);
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.tuple(
            fc.integer({ min: 0, max: 9 }),
            fc.string({ maxLength: 5 }).map((text) => text.replaceAll('\0', '')),
            fc.constantFrom('default', 'acme'),
          ),
          { minLength: 1, maxLength: 60 },
        ),
        fc.integer({ min: 1, max: 20 }),
        async (events, maxBatch) => {
          const own = openLog();
          own.append(...events.map(([n, title, tenant]) => note(n, title, tenant)));
          const digests: unknown[] = [];
          for (const size of [maxBatch, 2_000]) {
            await elsewhere.db().query('drop schema if exists rm_notes cascade');
            digests.push(
              (await replay({ to: elsewhere.db(), eventStore: own.eventStore, projections: [notes()], maxBatch: size }))
                .tables,
            );
          }
          expect(digests[0]).to.deep.equal(digests[1]);
        },
      ),
      { numRuns: 25 },
    );
  });
});
