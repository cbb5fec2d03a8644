import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Lease } from '../../../application/ports/leases.ts';
import { refusal } from '../../../domain/errors.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import { createLeases } from '../../../infrastructure/postgres/leases.ts';
import { type Follower, type FollowerOptions, startFollower } from '../../../projections/engine/follower.ts';
import { useDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { gate } from '../../support/gate.ts';
import { type Log, openLog, positionOf } from '../../support/open-log.ts';
import { holds } from '../../support/test-engine.ts';
import { note } from './notes.ts';

describe('a follower with its own checkpoint', () => {
  const database = useDatabase();
  let log: Log;
  let followers: Follower[] = [];

  function follow(options: Pick<FollowerOptions, 'handler'> & Partial<FollowerOptions>): Follower {
    const follower = startFollower({
      name: 'worker/test',
      eventStore: log.eventStore,
      database: database.db(),
      leases: createLeases({ database: database.db(), owner: randomUUID(), ttlMs: 1_000 }),
      ...options,
    });
    followers.push(follower);
    return follower;
  }

  function reached(follower: Follower, position: string): Promise<void> {
    return eventually(() => {
      holds(follower.status().position >= position, 'the follower has reached the position');
    });
  }

  beforeEach(() => {
    log = openLog();
  });

  afterEach(async () => {
    await Promise.all(followers.map((follower) => follower.stop()));
    followers = [];
    await database.db().query('truncate operational.leases, operational.checkpoints');
  });

  it('stops reporting its lag when another process takes its lease', async () => {
    const reported: string[] = [];
    const metrics = {
      lag: () => reported.push('lag'),
      batchApplied: () => undefined,
      followerLeft: () => reported.push('left'),
    };
    const follower = follow({ handler: { kind: 'before', handle: () => Promise.resolve() }, metrics });
    log.append(note(1, 'one'));
    await reached(follower, positionOf(1));
    expect(reported).to.include('lag').and.not.include('left');
    await database
      .db()
      .execute(
        `update operational.leases set owner = 'another', epoch = epoch + 1, expires_at = now() + interval '1 hour'`,
      );
    await eventually(() => {
      expect(reported.at(-1)).to.equal('left');
    });
  });

  it('reports a growing lag while it retries, and that it retries, until it succeeds', async () => {
    const lags: number[] = [];
    const retries: boolean[] = [];
    let failing = true;
    const follower = follow({
      handler: {
        kind: 'before',
        handle: () => (failing ? Promise.reject(new Error('no route')) : Promise.resolve()),
      },
      metrics: {
        lag: (_, seconds) => lags.push(seconds),
        batchApplied: () => undefined,
        followerRetries: (_, isRetrying) => retries.push(isRetrying),
      },
    });
    const position = log.append(note(1, 'one'));
    await eventually(() => {
      expect(retries.filter((isRetrying) => isRetrying)).to.have.length.above(3);
    });
    const before = lags.slice(-3);
    expect(before).to.deep.equal(before.toSorted((a, b) => a - b));
    expect(before.at(-1)).to.be.above(before[0] ?? 0);
    failing = false;
    await reached(follower, position);
    expect(retries.at(-1)).to.equal(false);
  });

  it('waits for its lease again after its handler failed because of a lost lease', async () => {
    const leases = createLeases({ database: database.db(), owner: randomUUID(), ttlMs: 1_000 });
    let held: Lease | undefined;
    let calls = 0;
    const follower = follow({
      leases: {
        ...leases,
        async acquire(name, signal) {
          held = await leases.acquire(name, signal);
          return held;
        },
      },
      handler: {
        kind: 'inside',
        async handle() {
          calls += 1;
          if (calls > 1) return;
          const lost = once(held!.signal, 'abort');
          await database
            .db()
            .execute(`update operational.leases set owner = 'another', epoch = epoch + 1, expires_at = '-infinity'`);
          await lost;
          throw new Error('duplicate key value violates unique constraint');
        },
      },
    });
    await reached(follower, log.append(note(1, 'one')));
    expect(calls).to.equal(2);
  });

  it('moves the checkpoint only after a `before` handler succeeded, and repeats the batch when the handler failed', async () => {
    const published: string[] = [];
    let failures = 2;
    const follower = follow({
      handler: {
        kind: 'before',
        async handle(events) {
          const [row] = await database.db().query<{ position: string }>('select position from operational.checkpoints');
          expect(row!.position < events[0]!.position).to.equal(true);
          published.push(...events.map(({ data }) => JSON.stringify(data['title'])));
          failures -= 1;
          if (failures >= 0) throw failures === 1 ? refusal('unavailable') : new Error('any error');
        },
      },
    });
    await reached(follower, log.append(note(1, 'a')));
    expect(published).to.deep.equal(['"a"', '"a"', '"a"']);
  });

  it('runs an `inside` handler in the transaction that moves the checkpoint', async () => {
    await database.db().query('create table public.handled (position text primary key)');
    const follower = follow({
      handler: {
        kind: 'inside',
        async handle(events, tx) {
          for (const { position } of events) await tx.execute('insert into public.handled values ($1)', [position]);
        },
      },
    });
    await reached(follower, log.append(note(1, 'a'), note(2, 'b')));
    expect(await database.db().query('select count(*)::int as n from public.handled')).to.deep.equal([{ n: 2 }]);
  });

  it('starts at the head with `startAt: head`, and resumes from its checkpoint later', async () => {
    log.append(note(1, 'old'));
    const seen: RecordedEvent[] = [];
    const handler: FollowerOptions['handler'] = {
      kind: 'before',
      handle(events) {
        seen.push(...events);
        return Promise.resolve();
      },
    };
    const first = follow({ startAt: 'head', handler });
    await reached(first, positionOf(1));
    await first.stop();
    log.append(note(2, 'while stopped'));
    await reached(follow({ startAt: 'head', handler }), positionOf(2));
    expect(seen.map(({ data }) => data['title'])).to.deep.equal(['while stopped']);
  });

  it('reads large batches when behind and small ones when live, never larger than `maxBatch`', async () => {
    const sizes: number[] = [];
    log.append(...Array.from({ length: 1_050 }, (_, n) => note(n, 'behind')));
    const follower = follow({
      maxBatch: 400,
      handler: {
        kind: 'before',
        handle(events) {
          sizes.push(events.length);
          return Promise.resolve();
        },
      },
    });
    await reached(follower, positionOf(1_050));
    await reached(follower, log.append(note(1, 'live')));
    expect(Math.max(...sizes)).to.be.at.most(400);
    expect(sizes.at(-1)).to.equal(1);
    expect(sizes.reduce((sum, size) => sum + size, 0)).to.equal(1_051);
  });

  it('moves the checkpoint after each step of a `steps` handler, and repeats only the step that failed', async () => {
    const handled: number[] = [];
    let failures = 1;
    log.append(...Array.from({ length: 10 }, (_, index) => note(index, 'x')));
    const follower = follow({
      handler: {
        kind: 'steps',
        handle(events) {
          const first = events.slice(0, 3).map(({ position }) => Number(position) / 10);
          if (first.includes(5) && (failures -= 1) >= 0) return Promise.reject(new Error('no route'));
          handled.push(...first);
          return Promise.resolve(first.length);
        },
      },
    });
    await reached(follower, positionOf(10));
    expect(handled).to.deep.equal(Array.from({ length: 10 }, (_, index) => index + 1));
  });

  it('finishes the current batch before it stops', async () => {
    const entered = gate();
    const released = gate();
    const follower = follow({
      handler: {
        kind: 'before',
        handle() {
          entered.open();
          return released.opened;
        },
      },
    });
    const position = log.append(note(1, 'a'));
    await entered.opened;
    const stopped = follower.stop();
    released.open();
    await stopped;
    expect(await database.db().query('select position from operational.checkpoints')).to.deep.equal([{ position }]);
    expect(follower.status().state).to.equal('ended');
  });
});
