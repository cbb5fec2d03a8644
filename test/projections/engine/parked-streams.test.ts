import { expect } from 'chai';
import { createLeases } from '../../../infrastructure/postgres/leases.ts';
import { openInProcessSignals } from '../../../infrastructure/signals/in-process.ts';
import type { ProjectionEngine } from '../../../projections/engine/engine.ts';
import type { Projection } from '../../../projections/engine/projection.ts';
import { rebuild } from '../../../projections/engine/rebuild.ts';
import { replay } from '../../../projections/engine/replay.ts';
import { useDatabase } from '../../support/database.ts';
import { type Log, openLog, positionOf } from '../../support/open-log.ts';
import { rejectionOf } from '../../support/rejection.ts';
import { createTestEngine } from '../../support/test-engine.ts';
import { note, notes } from './notes.ts';

const CHECKPOINT = 'projection/notes/1';

/** Applies the events that `notes` refuses. */
function repaired(): Projection {
  const base = notes();
  return {
    ...base,
    apply: (tx, target, events) =>
      base.apply(
        tx,
        target,
        events.map((event) =>
          event.data['title'] === 'poison' ? { ...event, data: { ...event.data, title: 'repaired' } } : event,
        ),
      ),
  };
}

describe('parked streams', () => {
  const database = useDatabase();
  let log: Log;
  let engines: ProjectionEngine[] = [];
  let signals = openInProcessSignals();

  function open(projection: Projection = notes()): ProjectionEngine {
    const engine = createTestEngine({
      database: database.db(),
      eventStore: log.eventStore,
      projections: [projection],
      signals,
    });
    engines.push(engine);
    return engine;
  }

  async function start(projection?: Projection): Promise<ProjectionEngine> {
    const engine = open(projection);
    await engine.prepare();
    engine.start();
    return engine;
  }

  async function reaches(engine: ProjectionEngine, position = log.events.length): Promise<void> {
    expect(await engine.progress.waitFor(['notes'], positionOf(position), 5_000)).to.equal(true);
  }

  async function stopAll(): Promise<void> {
    await Promise.all(engines.map((engine) => engine.stop()));
    engines = [];
  }

  const rows = () =>
    database
      .db()
      .query<{ note: number; title: string; changes: number }>(
        'select note, title, changes from rm_notes.notes order by note',
      );
  const parked = async (engine: ProjectionEngine) => (await engine.parked()).map(({ stream }) => stream);

  beforeEach(() => {
    log = openLog();
    signals = openInProcessSignals();
  });

  afterEach(async () => {
    await stopAll();
    for (const schema of ['rm_notes', 'rm_notes_next', 'rm_notes_old'])
      await database.db().query(`drop schema if exists ${schema} cascade`);
    await database
      .db()
      .query(
        'truncate operational.leases, operational.checkpoints, operational.projections, operational.parked_streams',
      );
  });

  it('leave the other events of an append visible together', async () => {
    const transactions = new Set<string>();
    const base = notes();
    log.append(note(0, 'before'));
    log.appendTogether(...Array.from({ length: 40 }, (_, n) => note(n, n === 30 ? 'poison' : 'together')));
    log.append(note(0, 'after'));
    const engine = await start({
      ...base,
      async apply(tx, target, events) {
        await base.apply(tx, target, events);
        const [row] = await tx.query<{ xid: string }>('select txid_current()::text as xid');
        if (events.some(({ data }) => data['title'] === 'together')) transactions.add(row!.xid);
      },
    });
    await reaches(engine);
    expect(await parked(engine)).to.deep.equal(['entry-default.30']);
    expect((await rows()).map(({ title }) => title)).to.deep.equal([
      'after',
      ...Array.from({ length: 38 }, () => 'together'),
    ]);
    expect(transactions.size, 'transactions with events of the append').to.equal(1);
  });

  it('wait from the event that cannot be applied, while the other streams go on', async () => {
    log.append(...Array.from({ length: 41 }, (_, n) => note(n % 20, n === 8 ? 'poison' : `title ${String(n)}`)));
    const engine = await start();
    await reaches(engine);
    log.append(note(8, 'later'), note(9, 'later'));
    await reaches(engine);
    expect((await rows()).map(({ note: n }) => n)).to.deep.equal([
      ...Array.from({ length: 8 }, (_, n) => n),
      ...Array.from({ length: 11 }, (_, n) => n + 9),
    ]);
    expect((await rows()).find(({ note: n }) => n === 9)).to.deep.equal({ note: 9, title: 'later', changes: 3 });
    expect(engine.status()[0]?.state).to.equal('live');
    const [record, ...others] = await engine.parked();
    expect(others).to.deep.equal([]);
    expect(record).to.deep.include({
      projection: CHECKPOINT,
      stream: 'entry-default.8',
      tenant: 'default',
      revision: 0,
      position: positionOf(9),
      reason: "Error: note 8 can't be applied",
    });
    expect([...(await engine.countParked())]).to.deep.equal([[CHECKPOINT, 1]]);
  });

  it('stay parked after a restart and in another process, and are applied in order by a retry', async () => {
    log.append(note(1, 'a'), note(2, 'poison'), note(1, 'b'));
    await reaches(await start());
    await stopAll();
    const engine = await start(repaired());
    const other = await start(repaired());
    log.append(note(2, 'second'), note(2, 'third'));
    await reaches(engine);
    expect(await parked(engine)).to.deep.equal(['entry-default.2']);
    expect((await rows()).map(({ note: n }) => n)).to.deep.equal([1]);
    const stream = 'entry-default.2';
    expect(await other.retryParked({ projection: CHECKPOINT, stream })).to.equal('applied');
    expect(await other.retryParked({ projection: CHECKPOINT, stream })).to.equal('not_parked');
    log.append(note(2, 'fourth'));
    await reaches(engine);
    expect(await parked(engine)).to.deep.equal([]);
    expect(await rows()).to.deep.equal([
      { note: 1, title: 'b', changes: 2 },
      { note: 2, title: 'fourth', changes: 4 },
    ]);
  });

  it('are parked again by a retry that cannot apply the event either', async () => {
    log.append(note(1, 'a'), note(2, 'poison'), note(2, 'b'));
    const engine = await start();
    await reaches(engine);
    expect(await engine.retryParked({ projection: CHECKPOINT, stream: 'entry-default.2' })).to.equal('parked');
    log.append(note(2, 'c'), note(1, 'c'));
    await reaches(engine);
    expect((await engine.parked()).map(({ position }) => position)).to.deep.equal([positionOf(2)]);
    expect(await rows()).to.deep.equal([{ note: 1, title: 'c', changes: 2 }]);
  });

  it('hold the streams that depend on them; a retry applies all in the order of the log', async () => {
    const dependsOn: Projection['dependsOn'] = ({ data: { note: n } }) => (Number(n) > 10 ? ['entry-default.1'] : []);
    log.append(note(11, 'a'), note(1, 'poison'), note(11, 'b'), note(12, 'c'), note(2, 'd'), note(1, 'e'));
    const engine = await start({ ...notes(), dependsOn });
    await reaches(engine);
    expect(await parked(engine)).to.deep.equal(['entry-default.1']);
    expect(await rows()).to.deep.equal([
      { note: 2, title: 'd', changes: 1 },
      { note: 11, title: 'a', changes: 1 },
    ]);
    await stopAll();
    const order: unknown[] = [];
    const base = repaired();
    const fixed = await start({
      ...base,
      dependsOn,
      apply(tx, target, events) {
        order.push(...events.map(({ position }) => position));
        return base.apply(tx, target, events);
      },
    });
    expect(await fixed.retryParked({ projection: CHECKPOINT, stream: 'entry-default.1' })).to.equal('applied');
    expect(order).to.deep.equal([2, 3, 4, 6].map(positionOf));
    expect((await rows()).map(({ changes }) => changes)).to.deep.equal([2, 1, 2, 1]);
  });

  it('are healed by a rebuild after the fault is repaired', async () => {
    log.append(note(1, 'a'), note(2, 'poison'), note(2, 'b'));
    const engine = await start();
    await reaches(engine);
    await stopAll();
    const leases = createLeases({ database: database.db(), owner: 'rebuild', ttlMs: 1_000 });
    const options = { database: database.db(), eventStore: log.eventStore, leases };
    const again = await rebuild({ ...options, projection: notes() });
    expect(again.outcome).to.equal('equal');
    expect(again.parked.map(({ stream, revision }) => ({ stream, revision }))).to.deep.equal([
      { stream: 'entry-default.2', revision: 0 },
    ]);
    expect(await database.db().query('select projection, stream from operational.parked_streams')).to.deep.equal([
      { projection: CHECKPOINT, stream: 'entry-default.2' },
    ]);
    expect((await rebuild({ ...options, projection: repaired() })).outcome).to.equal('replaced');
    expect(await database.db().query('select 1 from operational.parked_streams')).to.deep.equal([]);
    expect(await rows()).to.deep.equal([
      { note: 1, title: 'a', changes: 1 },
      { note: 2, title: 'b', changes: 2 },
    ]);
  });

  it('are named by a replay, which applies the other streams', async () => {
    log.append(note(1, 'a'), note(2, 'before'), note(2, 'poison'), note(2, 'after'), note(1, 'b'));
    const report = await replay({ to: database.db(), eventStore: log.eventStore, projections: [notes()] });
    expect(report.parked).to.deep.equal([
      { projection: 'notes', stream: 'entry-default.2', revision: 0, reason: "Error: note 2 can't be applied" },
    ]);
    expect(await rows()).to.deep.equal([
      { note: 1, title: 'b', changes: 2 },
      { note: 2, title: 'before', changes: 1 },
    ]);
  });

  it('are at most 100 in a replay: then it fails', async () => {
    log.append(...Array.from({ length: 110 }, (_, n) => note(n, 'poison')));
    const replayed = replay({ to: database.db(), eventStore: log.eventStore, projections: [notes()] });
    expect(String(await rejectionOf(replayed))).to.contain("note 100 can't be applied");
  });

  it('are at most 100 without an applied batch in between: then the projector stops', async () => {
    log.append(...Array.from({ length: 110 }, (_, n) => note(n, 'poison')));
    const engine = await start();
    const refused = await rejectionOf(engine.progress.waitFor(['notes'], positionOf(110), 5_000));
    expect(refused).to.be.instanceOf(Error);
    expect(engine.status()[0]).to.deep.include({ state: 'stopped', position: positionOf(100) });
    expect(await parked(engine)).to.have.lengthOf(100);
  });
});
