import { expect } from 'chai';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { hasCode } from '../../../domain/errors.ts';
import { underAdvisoryLock } from '../../../infrastructure/postgres/advisory-lock.ts';
import { openDatabase } from '../../../infrastructure/postgres/database.ts';
import { createExclusive } from '../../../infrastructure/postgres/exclusive.ts';
import { useDatabase } from '../../support/database.ts';
import { gate } from '../../support/gate.ts';
import { rejectionOf } from '../../support/rejection.ts';

describe('exclusive work', () => {
  const database = useDatabase();

  it('runs one at a time in all processes, and gets database connections while many wait', async () => {
    const processes = Array.from({ length: 3 }, () => openDatabase({ url: database.url(), maxConnections: 2 }));
    let inside = 0;
    let most = 0;
    await Promise.all(
      processes.flatMap((db) => {
        const exclusive = createExclusive({ database: db });
        return Array.from({ length: 15 }, () =>
          exclusive('work', async () => {
            inside += 1;
            most = Math.max(most, inside);
            await db.query('select 1');
            inside -= 1;
          }),
        );
      }),
    );
    expect(most).to.equal(1);
    await Promise.all(processes.map((db) => db.close()));
  });

  it('returns the result or the error of the work, and then runs the next', async () => {
    const exclusive = createExclusive({ database: database.db() });
    const failing = exclusive('work', () => Promise.reject(new Error('no')));
    const next = exclusive('work', () => Promise.resolve(7));
    expect(String(await rejectionOf(failing))).to.contain('no');
    expect(await next).to.equal(7);
  });

  it('does not wait for work with another name, however much of that waits', async () => {
    const [here, there] = [1, 2].map(() => openDatabase({ url: database.url(), maxConnections: 2 }));
    if (!here || !there) throw new Error('two pools are open');
    const entered = gate();
    const released = gate();
    const names = Array.from({ length: 20 }, (_, i) => `free ${String(i)}`);
    const inside = createExclusive({ database: there })('taken', () => {
      entered.open();
      return released.opened;
    });
    await entered.opened;
    const exclusive = createExclusive({ database: here });
    const waiting = names.map(() => exclusive('taken', () => Promise.resolve()));
    const others = await Promise.all(names.map((name) => exclusive(name, () => here.query('select 1'))));
    expect(others).to.have.length(20);
    released.open();
    await Promise.all([inside, ...waiting]);
    await Promise.all([here.close(), there.close()]);
  });

  it('refuses work that waits for too long, and runs the work behind it', async () => {
    const exclusive = { id: '4711', waitMs: 50 };
    const context = { database: database.db() };
    const released = gate();
    const first = underAdvisoryLock(exclusive, () => released.opened, context);
    const refused = await rejectionOf(underAdvisoryLock(exclusive, () => Promise.resolve(), context));
    expect(hasCode(refused, 'unavailable')).to.equal(true);
    const next = underAdvisoryLock({ id: '4711' }, () => Promise.resolve(7), context);
    released.open();
    await first;
    expect(await next).to.equal(7);
  });

  it('goes on when a process is suspended inside the work', async () => {
    const child = fork(new URL('exclusive-process.ts', import.meta.url), [database.url()], {
      execArgv: ['--import', 'tsx'],
    });
    try {
      await once(child, 'message');
      child.kill('SIGSTOP');
      const exclusive = createExclusive({ database: database.db() });
      expect(await exclusive('work', () => Promise.resolve(7))).to.equal(7);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
