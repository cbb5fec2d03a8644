import { expect } from 'chai';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Leases } from '../../../application/ports/leases.ts';
import { isGone, nameInstance } from '../../../infrastructure/postgres/instance.ts';
import { createLeases } from '../../../infrastructure/postgres/leases.ts';
import { createInProcessSignals } from '../../../infrastructure/signals/in-process.ts';
import { useDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';

describe('leases', () => {
  const database = useDatabase();
  const forever = new AbortController().signal;

  function leasesOf(owner: string, ttlMs = 600, signals?: Parameters<typeof createLeases>[0]['signals']): Leases {
    return createLeases({ database: database.db(), owner, ttlMs, ...(signals ? { signals } : {}) });
  }

  afterEach(() => database.db().query('truncate operational.leases'));

  it('gives a duty to one owner at a time, with a greater epoch each time', async () => {
    const first = await leasesOf('a').acquire('duty', forever);
    const refused = await leasesOf('b').acquire('duty', AbortSignal.timeout(250)).then(() => undefined, (error: unknown) => error);
    expect(refused).to.have.property('name', 'TimeoutError');
    const waiting = leasesOf('b').acquire('duty', forever);
    await first.release();
    const lease = await waiting;
    expect(lease.epoch).to.equal(first.epoch + 1);
    await lease.release();
  });

  it('renews itself while it is held', async () => {
    const lease = await leasesOf('a', 150).acquire('duty', forever);
    const [first] = await database.db().query<{ expires_at: Date }>('select expires_at from operational.leases');
    await eventually(async () => {
      expect(await database.db().query(`select 1 from operational.leases where clock_timestamp() > $1::timestamptz + interval '300 milliseconds'`, [first?.expires_at])).to.have.length(1);
    });
    expect(await database.db().query(`select 1 from operational.leases where expires_at > clock_timestamp()`)).to.have.length(1);
    expect(lease.signal.aborted).to.equal(false);
    await lease.release();
  });

  it('is lost, and says so, when another epoch has it', async () => {
    const lease = await leasesOf('a', 150).acquire('duty', forever);
    await database.db().query(`update operational.leases set owner = 'b', epoch = epoch + 1`);
    await eventually(() => {
      expect(lease.signal.aborted).to.equal(true);
    });
    expect(lease.signal.reason).to.include({ code: 'lease_lost' });
    await lease.release();
    expect(await database.db().query(`select owner from operational.leases where expires_at > clock_timestamp() - interval '1 minute'`)).to.deep.equal([{ owner: 'b' }]);
  });

  it('is taken from an owner that does not renew, within its time', async () => {
    await database.db().query(`insert into operational.leases values ('duty', 'dead', 7, clock_timestamp() + interval '300 milliseconds')`);
    const began = performance.now();
    const lease = await leasesOf('a', 3_000).acquire('duty', forever);
    expect(lease.epoch).to.equal(8);
    expect(performance.now() - began).to.be.within(250, 1_500);
    await lease.release();
  });

  it('comes at once when its owner leaves it and a signal says so', async () => {
    const signals = createInProcessSignals();
    const first = await leasesOf('a', 60_000, signals).acquire('duty', forever);
    let listening: () => void = () => undefined;
    const waits = new Promise<void>((resolve) => {
      listening = resolve;
    });
    const heard = {
      publish: signals.publish.bind(signals),
      subscribe(channel: string, handler: (payload: string) => void) {
        listening();
        return signals.subscribe(channel, handler);
      },
    };
    const waiting = leasesOf('b', 60_000, heard).acquire('duty', forever);
    await waits;
    const began = performance.now();
    await first.release();
    const second = await waiting;
    expect(performance.now() - began).to.be.below(2_000);
    await second.release();
  });

  it('stops waiting with the signal', async () => {
    const first = await leasesOf('a').acquire('duty', forever);
    const giveUp = new AbortController();
    const waiting = leasesOf('b').acquire('duty', giveUp.signal).then(() => undefined, (error: unknown) => error);
    giveUp.abort(new Error('enough'));
    expect(await waiting).to.be.an('error').with.property('message', 'enough');
    await first.release();
  });

  it('has one owner among fifty that want it at once', async () => {
    const giveUp = new AbortController();
    const outcomes = Array.from({ length: 50 }, (_, n) => leasesOf(`p${String(n)}`, 60_000).acquire('duty', giveUp.signal).then((lease) => lease, () => undefined));
    await Promise.race(outcomes);
    giveUp.abort(new Error('enough'));
    const winners = (await Promise.all(outcomes)).filter((lease) => lease !== undefined);
    expect(winners).to.have.length(1);
    await winners[0]?.release();
  });

  it('takes a lease at once from an owner that surely runs no more, and fences it', async () => {
    const first = await leasesOf('dead').acquire('duty', forever);
    const second = await createLeases({ database: database.db(), owner: 'next', ttlMs: 60_000, isGone: (owner) => owner === 'dead' }).acquire('duty', forever);
    expect(second.epoch).to.equal(first.epoch + 1);
    await second.release();
  });

  it('counts a process as gone only where it ran and when its id is free', async () => {
    const child = fork(new URL('../../support/idle-process.ts', import.meta.url), [], { execArgv: ['--import', 'tsx'] });
    await once(child, 'message');
    const name = nameInstance().replace(`/${process.pid}/`, `/${String(child.pid)}/`);
    expect(isGone(name)).to.equal(false);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(isGone(name)).to.equal(process.platform === 'linux');
    expect(isGone(nameInstance())).to.equal(false);
    expect(isGone(name.replace(/\/[^/]*$/, '/elsewhere-1'))).to.equal(false);
    expect(isGone('')).to.equal(false);
  });
});
