import { expect } from 'chai';
import { hasCode } from '../../../domain/errors.ts';
import { createLeases } from '../../../infrastructure/postgres/leases.ts';
import { openInProcessSignals } from '../../../infrastructure/signals/in-process.ts';
import type { ProjectionEngine } from '../../../projections/engine/engine.ts';
import { rebuild } from '../../../projections/engine/rebuild.ts';
import { useDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { gate } from '../../support/gate.ts';
import { type Log, openLog, positionOf } from '../../support/open-log.ts';
import { rejectionOf } from '../../support/rejection.ts';
import { createTestEngine, holds } from '../../support/test-engine.ts';
import { note, notes } from './notes.ts';

describe('the projection engine', () => {
  const database = useDatabase();
  let log: Log;
  let engines: ProjectionEngine[] = [];

  function open(options: Partial<Parameters<typeof createTestEngine>[0]> = {}): ProjectionEngine {
    const engine = createTestEngine({
      database: database.db(),
      eventStore: log.eventStore,
      projections: [notes()],
      ...options,
    });
    engines.push(engine);
    return engine;
  }

  /** Rebuilds the read model in version 1, as the command of that build does. */
  async function rebuildNotes(): Promise<void> {
    const db = database.db();
    const leases = createLeases({ database: db, owner: 'command', ttlMs: 1_000 });
    await rebuild({ database: db, eventStore: log.eventStore, projection: notes(), leases });
  }

  /** Lets the installation of the version be older than the time for which a replaced process goes on. */
  async function ageInstallation(): Promise<void> {
    await database.db().query(`update operational.projections set installed_at = installed_at - interval '1 minute'`);
  }

  async function changes(): Promise<number> {
    const [row] = await database
      .db()
      .query<{ changes: number }>('select coalesce(sum(changes), 0)::int as changes from rm_notes.notes');
    return row?.changes ?? 0;
  }

  beforeEach(() => {
    log = openLog();
  });

  afterEach(async () => {
    await Promise.all(engines.map((engine) => engine.stop()));
    engines = [];
    for (const schema of ['rm_notes', 'rm_notes_next', 'rm_notes_old'])
      await database.db().query(`drop schema if exists ${schema} cascade`);
    await database.db().query('truncate operational.leases, operational.checkpoints, operational.projections');
  });

  it('creates each missing schema once when several processes start at the same time', async () => {
    await Promise.all([open(), open(), open(), open()].map((engine) => engine.prepare()));
    expect(await changes()).to.equal(0);
  });

  it('applies the events in the log and later ones, and ends waits at the commit', async () => {
    log.append(...Array.from({ length: 3_000 }, (_, n) => note(n % 100, `title ${String(n)}`)));
    const engine = open();
    await engine.prepare();
    engine.start();
    expect(await engine.progress.waitFor(['notes'], positionOf(3_000), 5_000)).to.equal(true);
    const later = log.append(note(7, 'live'));
    expect(await engine.progress.waitFor(['notes'], later, 5_000)).to.equal(true);
    expect(await changes()).to.equal(3_001);
    expect(engine.progress.position('notes')).to.equal(later);
    expect(engine.status()[0]).to.include({ name: 'notes', version: 1, state: 'live', position: later });
  });

  it('resolves a wait to false after its timeout', async () => {
    const engine = open();
    await engine.prepare();
    expect(await engine.progress.waitFor(['notes'], positionOf(1), 30)).to.equal(false);
  });

  it('advances over events of other categories and saves the checkpoint', async () => {
    const engine = open();
    await engine.prepare();
    engine.start();
    const position = log.append({ stream: 'media-default.1', type: 'MediaStored', data: {} });
    expect(await engine.progress.waitFor(['notes'], position, 5_000)).to.equal(true);
    await eventually(async () => {
      const [row] = await database.db().query<{ position: string }>('select position from operational.checkpoints');
      holds(row?.position === position, 'the checkpoint is saved');
    });
  });

  it('resumes from its checkpoint after a restart and repeats no effect', async () => {
    const first = open();
    await first.prepare();
    first.start();
    await first.progress.waitFor(['notes'], log.append(note(1, 'a'), note(2, 'b')), 5_000);
    await first.stop();
    const position = log.append(note(1, 'c'));
    const second = open();
    await second.prepare();
    second.start();
    expect(await second.progress.waitFor(['notes'], position, 5_000)).to.equal(true);
    expect(await changes()).to.equal(3);
  });

  it('releases the lease when it stops, so that the next process does not wait for the TTL', async () => {
    const first = open({ ttlMs: 60_000 });
    await first.prepare();
    first.start();
    await first.progress.waitFor(['notes'], log.append(note(1, 'a')), 5_000);
    await first.stop();
    const second = open({ ttlMs: 60_000 });
    second.start();
    expect(await second.progress.waitFor(['notes'], log.append(note(1, 'b')), 5_000)).to.equal(true);
  });

  it('signals moves to other processes, which wait without running a projector', async () => {
    const signals = openInProcessSignals();
    const projector = open({ signals });
    const reader = open({ signals });
    await projector.prepare();
    projector.start();
    const moves: string[] = [];
    reader.progress.onMove('notes', (position) => moves.push(position));
    const position = log.append(note(1, 'a'));
    expect(await reader.progress.waitFor(['notes'], position, 5_000)).to.equal(true);
    expect(moves).to.include(position);
    expect(reader.status()[0]).to.include({ state: 'idle', position });
  });

  it('reads the checkpoint when signals are lost', async () => {
    const projector = open();
    const reader = open();
    await projector.prepare();
    projector.start();
    expect(await reader.progress.waitFor(['notes'], log.append(note(1, 'a')), 5_000)).to.equal(true);
    expect(await reader.progress.waitFor(['notes'], log.append(note(1, 'b')), 5_000)).to.equal(true);
  });

  it('stops at an error that concerns all streams, keeps the effects of earlier events, and never skips it', async () => {
    const stops: (string | boolean)[] = [];
    const metrics = {
      lag: () => undefined,
      batchApplied: () => undefined,
      followerStopped: (name: string, stopped: boolean) => stops.push(name, stopped),
    };
    const engine = open({ metrics });
    const reader = open();
    log.append(...Array.from({ length: 41 }, (_, n) => note(n, n === 28 ? 'forbidden' : 'fine')));
    await engine.prepare();
    engine.start();
    const refused = await rejectionOf(engine.progress.waitFor(['notes'], positionOf(41), 5_000));
    expect(hasCode(refused, 'projection_stopped')).to.equal(true);
    expect(engine.status()[0]).to.deep.include({
      state: 'stopped',
      position: positionOf(28),
      stop: { reason: 'database error 42501', position: positionOf(29) },
    });
    expect(await changes()).to.equal(28);
    expect(stops.slice(-2)).to.deep.equal(['projection/notes/1', true]);
    const elsewhere = await rejectionOf(reader.progress.waitFor(['notes'], positionOf(41), 5_000));
    expect(hasCode(elsewhere, 'projection_stopped')).to.equal(true);
    expect(await engine.progress.waitFor(['notes'], positionOf(28), 5_000)).to.equal(true);
  });

  it('resumes after a stop when a process starts that can apply the event', async () => {
    const signals = openInProcessSignals();
    const broken = open({ signals });
    log.append(note(1, 'a'), note(2, 'forbidden'), note(3, 'c'));
    await broken.prepare();
    broken.start();
    await eventually(() => {
      holds(broken.status()[0]?.state === 'stopped', 'stopped');
    });
    const base = notes();
    const repaired = open({
      signals,
      projections: [
        {
          ...base,
          apply: (tx, target, events) =>
            base.apply(
              tx,
              target,
              events.map((event) => ({ ...event, data: { ...event.data, title: 'repaired' } })),
            ),
        },
      ],
    });
    repaired.start();
    await eventually(async () => {
      expect(await repaired.progress.waitFor(['notes'], positionOf(3), 5_000)).to.equal(true);
    });
    // The wait fails until this process has received the signal that another process resumed.
    await eventually(async () => {
      expect(await broken.progress.waitFor(['notes'], positionOf(3), 5_000)).to.equal(true);
    });
  });

  it('retries after transient errors, such as a terminated connection', async () => {
    let cut = 0;
    const engine = open({
      projections: [
        notes({
          async before() {
            cut += 1;
            if (cut > 3) return;
            const victims = await database
              .db()
              .query(
                `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`,
              );
            expect(victims).to.have.length(1);
          },
        }),
      ],
    });
    await engine.prepare();
    engine.start();
    expect(await engine.progress.waitFor(['notes'], log.append(note(1, 'a')), 10_000)).to.equal(true);
    expect(await changes()).to.equal(1);
    expect(cut).to.equal(4);
  });

  it('never lets a suspended lease holder write after another process has taken over', async () => {
    const suspended = gate();
    const resumed = gate();
    let writes = 0;
    // By its own clock its lease outlives the test, so only the epoch fences it.
    const old = open({
      ttlMs: 60_000,
      projections: [
        notes({
          async before() {
            writes += 1;
            if (writes > 1) return;
            suspended.open();
            await resumed.opened;
          },
        }),
      ],
    });
    await old.prepare();
    old.start();
    const position = log.append(note(1, 'a'), note(2, 'b'));
    await suspended.opened;
    await database.db().query(`update operational.leases set expires_at = clock_timestamp() - interval '1 second'`);
    const successor = open();
    successor.start();
    expect(await successor.progress.waitFor(['notes'], position, 5_000)).to.equal(true);
    resumed.open();
    await eventually(() => {
      holds(old.status()[0]?.state === 'waiting', 'the old holder waits');
    });
    expect(await changes()).to.equal(2);
    expect(await successor.progress.waitFor(['notes'], log.append(note(1, 'c')), 5_000)).to.equal(true);
    expect(await changes()).to.equal(3);
  });

  it('follows again after a suspended lease holder failed on the rows of its successor', async () => {
    const suspended = gate();
    const resumed = gate();
    let batches = 0;
    const old = open({
      ttlMs: 60_000,
      projections: [
        notes({
          async before() {
            batches += 1;
            if (batches > 1) return;
            suspended.open();
            await resumed.opened;
            throw Object.assign(new Error('duplicate key value violates unique constraint'), { code: '23505' });
          },
        }),
      ],
    });
    await old.prepare();
    old.start();
    const position = log.append(note(1, 'a'));
    await suspended.opened;
    await database.db().query(`update operational.leases set expires_at = clock_timestamp() - interval '1 second'`);
    const successor = open();
    successor.start();
    expect(await successor.progress.waitFor(['notes'], position, 5_000)).to.equal(true);
    resumed.open();
    await eventually(() => {
      holds(old.status()[0]?.state === 'waiting', 'the old holder waits');
    });
    await successor.stop();
    expect(await old.progress.waitFor(['notes'], log.append(note(1, 'b')), 5_000)).to.equal(true);
    expect(await changes()).to.equal(2);
  });

  it('stops and reports a read model whose rebuild meets a limit of the server each time', async () => {
    const old = open();
    await old.prepare();
    let attempts = 0;
    const create = (): Promise<never> => {
      attempts += 1;
      return Promise.reject(
        Object.assign(new Error('out of shared memory'), { code: '53200', severity: 'ERROR', name: 'error' }),
      );
    };
    const next = open({ projections: [{ ...notes({ version: 2 }), create }] });
    await next.prepare();
    next.start();
    await eventually(() => {
      holds(next.status()[0]?.state === 'stopped', 'stopped');
    });
    expect(attempts).to.equal(3);
    expect(next.status()[0]?.stop?.reason).to.equal(
      'database error 53200 (out of memory, or of locks: see max_locks_per_transaction)',
    );
  });

  it('rebuilds a read model of another version at start while the old version keeps answering', async () => {
    const old = open();
    await old.prepare();
    old.start();
    await old.progress.waitFor(['notes'], log.append(note(1, 'a'), note(2, 'b')), 5_000);

    const released = gate();
    const next = open({
      projections: [notes({ version: 2, render: (title) => title.toUpperCase(), before: () => released.opened })],
    });
    const rival = open({ projections: [notes({ version: 2, render: (title) => title.toUpperCase() })] });
    await next.prepare();
    next.start();
    await eventually(() => {
      holds(next.status()[0]?.state === 'rebuilding', 'rebuilding');
    });
    expect(await old.progress.waitFor(['notes'], log.append(note(1, 'c')), 5_000)).to.equal(true);
    expect(await database.db().query('select title from rm_notes.notes order by note')).to.deep.equal([
      { title: 'c' },
      { title: 'b' },
    ]);
    rival.start();
    released.open();
    await eventually(async () => {
      expect(await database.db().query('select title from rm_notes.notes order by note')).to.deep.equal([
        { title: 'C' },
        { title: 'B' },
      ]);
    });
    const position = log.append(note(3, 'd'));
    expect(await next.progress.waitFor(['notes'], position, 5_000)).to.equal(true);
    expect(await changes()).to.equal(4);
    await Promise.all([next.stop(), rival.stop()]);
    await eventually(() => {
      holds(old.status()[0]?.state === 'replaced', 'the old version does not write to the new tables');
    });
    await ageInstallation();
    expect(await old.unserved()).to.deep.equal([{ name: 'notes', reason: 'replaced' }]);
    expect(await database.db().query('select name, version from operational.projections')).to.deep.equal([
      { name: 'notes', version: 2 },
    ]);
  });

  it('leaves a read model of a later version alone, and follows once its own version is installed again', async () => {
    const later = open({ projections: [notes({ version: 2, render: (title) => title.toUpperCase() })] });
    await later.prepare();
    later.start();
    await later.progress.waitFor(['notes'], log.append(note(1, 'a')), 5_000);
    const earlier = open();
    await earlier.prepare();
    earlier.start();
    await eventually(() => {
      holds(earlier.status()[0]?.state === 'replaced', 'replaced');
    });
    expect(await earlier.unserved()).to.deep.equal([{ name: 'notes', reason: 'replaced' }]);
    expect(await later.progress.waitFor(['notes'], log.append(note(2, 'b')), 5_000)).to.equal(true);
    expect(await later.unserved()).to.deep.equal([]);

    // An operator returns to the earlier version.
    await rebuildNotes();
    expect(await earlier.progress.waitFor(['notes'], log.append(note(3, 'c')), 10_000)).to.equal(true);
    expect(await later.unserved()).to.deep.equal([]);
    await ageInstallation();
    expect(await later.unserved()).to.deep.equal([{ name: 'notes', reason: 'replaced' }]);
    await eventually(() => {
      holds(later.status()[0]?.state === 'replaced' && earlier.status()[0]?.state === 'live', 'followed again');
    });
    expect(await database.db().query('select title from rm_notes.notes order by note')).to.deep.equal([
      { title: 'a' },
      { title: 'b' },
      { title: 'c' },
    ]);
  });

  it('does not stop the waits of other processes when it was replaced', async () => {
    const signals = openInProcessSignals();
    const old = open({ signals });
    await old.prepare();
    old.start();
    await old.progress.waitFor(['notes'], log.append(note(1, 'a')), 5_000);
    const first = open({ signals, projections: [notes({ version: 2 })] });
    await first.prepare();
    first.start();
    await eventually(() => {
      holds(first.status()[0]?.state === 'live', 'live');
    });
    await first.stop();
    await eventually(() => {
      holds(old.status()[0]?.state === 'replaced', 'replaced');
    });
    const next = open({ signals, projections: [notes({ version: 2 })] });
    next.start();
    const position = log.append(note(2, 'b'));
    expect(await old.progress.waitFor(['notes'], position, 5_000)).to.equal(true);
    expect(await next.progress.waitFor(['notes'], position, 5_000)).to.equal(true);
  });

  it('does not serve new tables until they have the events that the log had when they were created', async () => {
    log.append(note(1, 'a'), note(2, 'b'));
    const reader = open();
    await reader.prepare();
    expect(await reader.unserved()).to.deep.equal([{ name: 'notes', reason: 'being_built' }]);
    const projector = open();
    await projector.prepare();
    projector.start();
    await projector.progress.waitFor(['notes'], positionOf(2), 5_000);
    expect(await reader.unserved()).to.deep.equal([]);
    log.append(note(3, 'c'));
    await projector.stop();
    expect(await reader.unserved()).to.deep.equal([]);
  });
});
