import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { refusal } from '../../../domain/errors.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import { createLeases } from '../../../infrastructure/postgres/leases.ts';
import type { Follower, FollowerOptions } from '../../../projections/engine/follower.ts';
import { startFollower } from '../../../projections/engine/follower.ts';
import { useDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import type { Log } from './log.ts';
import { openLog, place } from './log.ts';
import { note } from './notes.ts';
import { holds } from './rig.ts';

describe('follower with its own checkpoint', () => {
  const database = useDatabase();
  let log: Log;
  let followers: Follower[] = [];

  function follow(options: Pick<FollowerOptions, 'handler'> & Partial<FollowerOptions>): Follower {
    const follower = startFollower({
      name: 'worker/test', source: log.source, database: database.db(),
      leases: createLeases({ database: database.db(), owner: randomUUID(), ttlMs: 1_000 }),
      ...options,
    });
    followers.push(follower);
    return follower;
  }

  function reached(follower: Follower, position: string): Promise<void> {
    return eventually(() => {
      holds(follower.status().position >= position, 'the follower is there');
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

  it('leaves its lag to another process that took its lease', async () => {
    const told: string[] = [];
    const metrics = { lag: () => told.push('lag'), batchApplied: () => undefined, followerLeft: () => told.push('left') };
    const follower = follow({ handler: { kind: 'before', handle: () => Promise.resolve() }, metrics });
    log.append(note(1, 'one'));
    await reached(follower, place(1));
    expect(told).to.include('lag').and.not.include('left');
    await database.db().execute(`update operational.leases set owner = 'another', epoch = epoch + 1, expires_at = now() + interval '1 hour'`);
    await eventually(() => {
      expect(told.at(-1)).to.equal('left');
    });
  });

  it('moves the checkpoint only after a handler that runs before it, and repeats the batch when that failed', async () => {
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
          if (failures >= 0) throw failures === 1 ? refusal('unavailable') : new Error('any fault');
        },
      },
    });
    await reached(follower, log.append(note(1, 'a')));
    expect(published).to.deep.equal(['"a"', '"a"', '"a"']);
  });

  it('gives a handler inside the transaction the transaction of the checkpoint', async () => {
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

  it('begins at the head when told so, and goes on from its checkpoint ever after', async () => {
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
    await reached(first, place(1));
    await first.stop();
    log.append(note(2, 'while away'));
    await reached(follow({ startAt: 'head', handler }), place(2));
    expect(seen.map(({ data }) => data['title'])).to.deep.equal(['while away']);
  });

  it('hands over what waits in large batches when behind and small ones when live, never more than the most', async () => {
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
    await reached(follower, place(1_050));
    await reached(follower, log.append(note(1, 'live')));
    expect(Math.max(...sizes)).to.be.at.most(400);
    expect(sizes.at(-1)).to.equal(1);
    expect(sizes.reduce((sum, size) => sum + size, 0)).to.equal(1_051);
  });

  it('finishes the batch in hand before it stops', async () => {
    let begun: () => void = () => undefined;
    let finish: () => void = () => undefined;
    const began = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const follower = follow({
      handler: {
        kind: 'before',
        handle() {
          begun();
          return finished;
        },
      },
    });
    const position = log.append(note(1, 'a'));
    await began;
    const stopped = follower.stop();
    finish();
    await stopped;
    expect(await database.db().query('select position from operational.checkpoints')).to.deep.equal([{ position }]);
    expect(follower.status().state).to.equal('ended');
  });
});
