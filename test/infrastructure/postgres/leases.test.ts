import { expect } from 'chai';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Leases } from '../../../application/ports/leases.ts';
import type { Queryable } from '../../../infrastructure/postgres/database.ts';
import { hasExited, nameInstance } from '../../../infrastructure/postgres/instance.ts';
import { createLeases } from '../../../infrastructure/postgres/leases.ts';
import { openInProcessSignals } from '../../../infrastructure/signals/in-process.ts';
import { useDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { gate } from '../../support/gate.ts';
import { rejectionOf } from '../../support/rejection.ts';

describe('a lease', () => {
  const database = useDatabase();
  const forever = new AbortController().signal;

  function leasesOf(owner: string, ttlMs = 600, signals?: Parameters<typeof createLeases>[0]['signals']): Leases {
    return createLeases({ database: database.db(), owner, ttlMs, ...(signals ? { signals } : {}) });
  }

  afterEach(() => database.db().query('truncate operational.leases'));

  it('has one holder at a time, with an increasing epoch', async () => {
    const first = await leasesOf('a').acquire('job', forever);
    const refused = await rejectionOf(leasesOf('b').acquire('job', AbortSignal.timeout(250)));
    expect(refused).to.have.property('name', 'TimeoutError');
    const waiting = leasesOf('b').acquire('job', forever);
    await first.release();
    const lease = await waiting;
    expect(lease.epoch).to.equal(first.epoch + 1);
    await lease.release();
  });

  it('is renewed while it is held', async () => {
    const lease = await leasesOf('a', 150).acquire('job', forever);
    const [first] = await database.db().query<{ expires_at: Date }>('select expires_at from operational.leases');
    await eventually(async () => {
      expect(
        await database
          .db()
          .query(
            `select 1 from operational.leases where clock_timestamp() > $1::timestamptz + interval '300 milliseconds'`,
            [first?.expires_at],
          ),
      ).to.have.length(1);
    });
    expect(
      await database.db().query(`select 1 from operational.leases where expires_at > clock_timestamp()`),
    ).to.have.length(1);
    expect(lease.signal.aborted).to.equal(false);
    await lease.release();
  });

  it('aborts its signal when another epoch has taken it', async () => {
    const lease = await leasesOf('a', 150).acquire('job', forever);
    await database.db().query(`update operational.leases set owner = 'b', epoch = epoch + 1`);
    await eventually(() => {
      expect(lease.signal.aborted).to.equal(true);
    });
    expect(lease.signal.reason).to.include({ code: 'lease_lost' });
    await lease.release();
    expect(
      await database
        .db()
        .query(`select owner from operational.leases where expires_at > clock_timestamp() - interval '1 minute'`),
    ).to.deep.equal([{ owner: 'b' }]);
  });

  it('is taken over once it has expired from a holder that does not renew it, however long the TTL of the new holder is', async () => {
    await database
      .db()
      .query(
        `insert into operational.leases values ('job', 'dead', 7, clock_timestamp() + interval '300 milliseconds')`,
      );
    const began = performance.now();
    const lease = await leasesOf('a', 3_600_000).acquire('job', forever);
    expect(lease.epoch).to.equal(8);
    expect(performance.now() - began).to.be.at.least(250);
    await lease.release();
  });

  it('is acquired when its holder releases it and sends a signal, long before it expires', async () => {
    const signals = openInProcessSignals();
    const first = await leasesOf('a', 3_600_000, signals).acquire('job', forever);
    const subscribed = gate();
    const received = {
      publish: signals.publish.bind(signals),
      subscribe(channel: string, handler: (payload: string) => void) {
        subscribed.open();
        return signals.subscribe(channel, handler);
      },
    };
    const waiting = leasesOf('b', 3_600_000, received).acquire('job', forever);
    await subscribed.opened;
    await first.release();
    const second = await waiting;
    await second.release();
  });

  it('is no longer waited for when the signal aborts', async () => {
    const first = await leasesOf('a').acquire('job', forever);
    const giveUp = new AbortController();
    const waiting = rejectionOf(leasesOf('b').acquire('job', giveUp.signal));
    giveUp.abort(new Error('enough'));
    expect(await waiting)
      .to.be.an('error')
      .with.property('message', 'enough');
    await first.release();
  });

  it('has one holder among 50 concurrent waiters', async () => {
    const giveUp = new AbortController();
    const outcomes = Array.from({ length: 50 }, (_, n) =>
      leasesOf(`p${String(n)}`, 60_000)
        .acquire('job', giveUp.signal)
        .then(
          (lease) => lease,
          () => undefined,
        ),
    );
    await Promise.race(outcomes);
    giveUp.abort(new Error('enough'));
    const winners = (await Promise.all(outcomes)).filter((lease) => lease !== undefined);
    expect(winners).to.have.length(1);
    await winners[0]?.release();
  });

  it('is taken before it expires from a holder that is known to have exited, and that holder is fenced', async () => {
    const first = await leasesOf('dead').acquire('job', forever);
    const second = await createLeases({
      database: database.db(),
      owner: 'next',
      ttlMs: 60_000,
      hasExited: (owner) => owner === 'dead',
    }).acquire('job', forever);
    expect(second.epoch).to.equal(first.epoch + 1);
    const rows = await database.db().query(`select owner, epoch from operational.leases where name = 'job'`);
    // Writes of the former holder carry the smaller epoch, which the database refuses.
    expect(rows).to.deep.equal([{ owner: 'next', epoch: second.epoch }]);
    await eventually(() => {
      expect(first.signal.aborted).to.equal(true);
    });
    await second.release();
  });

  it('considers a process exited only on its own machine and when its process id is free', async () => {
    const child = fork(new URL('./idle-process.ts', import.meta.url), [], {
      execArgv: ['--import', 'tsx'],
    });
    await once(child, 'message');
    const name = nameInstance().replace(`/${process.pid}/`, `/${String(child.pid)}/`);
    expect(hasExited(name)).to.equal(false);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(hasExited(name)).to.equal(process.platform === 'linux');
    expect(hasExited(nameInstance())).to.equal(false);
    expect(hasExited(name.replace(/\/[^/]*$/, '/elsewhere-1'))).to.equal(false);
    expect(hasExited('')).to.equal(false);
  });

  it('is acquired again by its own process at once after an outage, although the row has not expired', async () => {
    let outage = false;
    const db = database.db();
    const failing: Queryable = {
      ...db,
      execute: (...statement) => (outage ? Promise.reject(new Error('outage')) : db.execute(...statement)),
    };
    const leases = createLeases({ database: failing, owner: 'a', ttlMs: 150 });
    const first = await leases.acquire('job', forever);
    outage = true;
    // A renewal whose response was lost.
    await db.query(`update operational.leases set expires_at = clock_timestamp() + interval '1 hour'`);
    if (!first.signal.aborted) await once(first.signal, 'abort');
    const second = await leases.acquire('job', forever);
    expect(second.epoch).to.equal(first.epoch + 1);
    outage = false;
    await second.release();
  });

  it('is free for others when its process has lost it', async () => {
    const db = database.db();
    const failing: Queryable = {
      ...db,
      execute: (text, ...rest) =>
        text.includes('$4') ? Promise.reject(new Error('outage')) : db.execute(text, ...rest),
    };
    const lease = await createLeases({ database: failing, owner: 'a', ttlMs: 150 }).acquire('job', forever);
    await db.query(`update operational.leases set expires_at = clock_timestamp() + interval '1 hour'`);
    const next = await leasesOf('b', 150).acquire('job', forever);
    expect(next.epoch).to.equal(lease.epoch + 1);
    await next.release();
  });

  it('has one holder among concurrent waiters of one process', async () => {
    const leases = leasesOf('a');
    let holders = 0;
    await Promise.all(
      Array.from({ length: 5 }, async () => {
        const lease = await leases.acquire('job', forever);
        holders += 1;
        expect(holders).to.equal(1);
        holders -= 1;
        await lease.release();
      }),
    );
  });
});
