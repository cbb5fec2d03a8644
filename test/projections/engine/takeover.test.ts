import { expect } from 'chai';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { digest } from '../../../projections/engine/digest.ts';
import { replay } from '../../../projections/engine/replay.ts';
import { useDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { openLog, positionOf } from '../../support/open-log.ts';
import { holds } from '../../support/test-engine.ts';
import { note, notes } from './notes.ts';

const EVENTS = 6_000;
const TTL_MS = 1_000;

describe('projectors in several processes', function () {
  this.timeout(60_000);
  const database = useDatabase();
  const elsewhere = useDatabase();
  let processes: ChildProcess[] = [];

  function start(): ChildProcess {
    const script = fileURLToPath(new URL('./projector-process.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', script, database.url(), String(EVENTS), String(TTL_MS)], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    processes.push(child);
    return child;
  }

  async function state(): Promise<{ position: string; epoch: number }> {
    const [row] = await database
      .db()
      .query<{ position: string; epoch: number }>('select position, epoch from operational.checkpoints');
    return row ?? { position: '', epoch: 0 };
  }

  async function positionUnder(epoch: number): Promise<string> {
    return eventually(async () => {
      const now = await state();
      holds(
        now.epoch === epoch && now.position > positionOf(0),
        `the holder of epoch ${String(epoch)} moves the checkpoint`,
      );
      return now.position;
    });
  }

  async function movesPast(position: string): Promise<void> {
    await eventually(async () => {
      holds((await state()).position > position, 'the checkpoint moves');
    });
  }

  async function expectExactState(): Promise<void> {
    await eventually(
      async () => {
        holds((await state()).position === positionOf(EVENTS), 'all events are applied');
      },
      { timeoutMs: 30_000 },
    );
    const log = openLog();
    log.append(...Array.from({ length: EVENTS }, (_, n) => note(n % 50, `title ${String(n)}`)));
    await elsewhere.db().query('drop schema if exists rm_notes cascade');
    const { tables } = await replay({ to: elsewhere.db(), eventStore: log.eventStore, projections: [notes()] });
    const live = await digest({ database: database.db(), projection: notes() });
    expect(live.tables.map((table) => ({ ...table, projection: 'notes' }))).to.deep.equal(tables);
  }

  afterEach(async () => {
    for (const child of processes) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    }
    processes = [];
    await eventually(async () => {
      await database.db().query('drop schema if exists rm_notes cascade');
    });
    await database.db().query('truncate operational.leases, operational.checkpoints, operational.projections');
  });

  it('take over from a process killed with kill -9, and lose or repeat no effect', async () => {
    const first = start();
    await positionUnder(1);
    start();
    await movesPast((await state()).position);
    first.kill('SIGKILL');
    await positionUnder(2);
    await expectExactState();
  });

  it('prevent a process that was suspended from writing; it takes over again when the other process dies', async () => {
    const first = start();
    await positionUnder(1);
    const second = start();
    await movesPast((await state()).position);
    first.kill('SIGSTOP');
    await positionUnder(2);
    const position = (await state()).position;
    first.kill('SIGCONT');
    await movesPast(position);
    expect((await state()).epoch).to.equal(2);
    second.kill('SIGKILL');
    await positionUnder(3);
    await expectExactState();
  });

  it('release the lease on SIGTERM and exit', async () => {
    const first = start();
    await positionUnder(1);
    start();
    first.kill('SIGTERM');
    await once(first, 'exit');
    expect(first.exitCode).to.equal(0);
    await positionUnder(2);
    await expectExactState();
  });
});
