import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { ORIGIN } from '../../../../domain/event.ts';
import {
  appendEach,
  collect,
  follow,
  idsOf,
  newEvent,
  newEvents,
  newStream,
  newTenant,
  positionsOf,
} from '../../../contract/event-store-fixtures.ts';
import { admin, serverUrl, useDatabase } from '../../../support/database.ts';
import { eventually } from '../../../support/eventually.ts';
import { gate } from '../../../support/gate.ts';
import { useStore } from './open-store.ts';

describe('the Postgres event store: live tail', () => {
  const database = useDatabase();
  const store = useStore(() => database.url());
  const other = useStore(() => database.url());

  it('does not read events that this process has written', async () => {
    const followers = await Promise.all(
      Array.from({ length: 5 }, async () => follow(store(), { after: await store().head() })),
    );
    await Promise.all(followers.map((follower) => follower.caughtUp()));
    await eventually(() => {
      expect(store().stats().tail.listening).to.equal(true);
    });
    // The poll may read once or twice during the test; without the local path every batch would be read.
    const { reads } = store().stats().tail;
    for (let n = 0; n < 40; n += 1) await store().append(newStream(), newEvents(2), { expected: 'no_stream' });
    await Promise.all(followers.map((follower) => follower.until(() => follower.events().length === 80)));
    expect(store().stats().tail.reads - reads).to.be.at.most(3);
    await Promise.all(followers.map((follower) => follower.stop()));
  });

  it('reads the events of another process once for all subscriptions', async () => {
    const after = await store().head();
    const followers = Array.from({ length: 5 }, () => follow(store(), { after }));
    await Promise.all(followers.map((follower) => follower.caughtUp()));
    const { reads } = store().stats().tail;
    const appended = await other().append(newStream(), newEvents(10), { expected: 'no_stream' });
    await Promise.all(
      followers.map((follower) => follower.until(({ position }) => (position() ?? ORIGIN) >= appended.position)),
    );
    expect(store().stats().tail.reads - reads).to.be.at.most(2);
    await Promise.all(followers.map((follower) => follower.stop()));
  });

  it('yields a gapless order to a live reader while two adapters and another process write', async () => {
    const after = await store().head();
    const followers = [follow(store(), { after }), follow(other(), { after })];
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', fileURLToPath(new URL('appender.ts', import.meta.url)), database.url(), '10', '40'],
      { stdio: 'inherit' },
    );
    const exited = once(child, 'exit');
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => appendEach(n % 2 ? other() : store(), newStream(), newEvents(40))),
    );
    expect((await exited)[0]).to.equal(0);
    const expected = Array.from({ length: 1200 }, (_, n) => Number(after) + n + 1);
    for (const follower of followers) {
      await follower.until(() => follower.events().length >= 1200);
      expect(positionsOf(follower.events()).map(Number)).to.deep.equal(expected);
      await follower.stop();
    }
  });

  it('buffers at most 1,000 events for a slow subscriber and loses none', async () => {
    const released = gate();
    const after = await store().head();
    const slow = follow(store(), { after, batchSize: 100, onItem: () => released.opened });
    await slow.caughtUp();
    let most = 0;
    for (let n = 0; n < 30; n += 1) {
      await store().append(newStream(), newEvents(200), { expected: 'no_stream' });
      most = Math.max(most, store().stats().tail.waiting);
    }
    expect(most).to.be.within(1, 1000);
    released.open();
    await slow.until(() => slow.events().length >= 6000);
    expect(idsOf(slow.events())).to.deep.equal(idsOf(await collect(store().readAll({ after }))));
    await slow.stop();
    expect(slow.items.filter(({ kind }) => kind === 'caught_up').length).to.be.at.least(1);
  });

  it('bounds the buffer by size as well', async () => {
    const released = gate();
    const slow = follow(store(), { after: await store().head(), onItem: () => released.opened });
    await slow.caughtUp();
    const text = 'x'.repeat(1024 * 1024);
    for (let n = 0; n < 12; n += 1)
      await store().append(newStream(), [newEvent({ data: { text } })], { expected: 'no_stream' });
    expect(store().stats().tail.waiting).to.be.within(1, 8);
    released.open();
    await slow.until(() => slow.events().length === 12);
    await slow.stop();
  });

  it('is not delayed by an open write transaction in another database', async () => {
    const name = `other_${newTenant().slice(0, 20)}`;
    await admin(`create database ${name}`);
    const client = new pg.Client({ connectionString: serverUrl(name) });
    await client.connect();
    try {
      await client.query('begin; create table t (n int); insert into t values (1)');
      const follower = follow(store(), { after: await store().head() });
      await follower.caughtUp();
      const { position } = await other().append(newStream(), newEvents(1), { expected: 'no_stream' });
      await follower.until(() => follower.events().length === 1, 3_000);
      expect(await store().head()).to.equal(position);
      await follower.stop();
    } finally {
      await client.end();
      await admin(`drop database ${name} with (force)`);
    }
  });

  it('reads a stream of 10,000 events by index, forwards and backwards', async () => {
    const stream = newStream();
    for (let n = 0; n < 10; n += 1) await store().append(stream, newEvents(1000), { expected: 'any' });
    for (const order of ['asc', 'desc']) {
      const plan = await database
        .db()
        .query<Record<string, string>>(
          `explain select * from eventstore.events where stream = $1 order by stream ${order}, revision ${order} limit 10`.replace(
            '$1',
            `'${stream}'`,
          ),
        );
      expect(plan.map((row) => Object.values(row)[0]).join('\n')).to.include('events_stream');
    }
    const [last] = await collect(store().readStream(stream, { direction: 'backwards', limit: 1 }));
    expect(last?.revision).to.equal(9999);
  });

  it('reads the events of an actor by index', async () => {
    const actor = uuidv7();
    const plan = await database
      .db()
      .query<Record<string, string>>(
        `explain select * from eventstore.events e where e.position < 1000000 and (e.metadata -> 'actor' ->> 'id') = '${actor}' order by e.position desc limit 500`,
      );
    expect(plan.map((row) => Object.values(row)[0]).join('\n')).to.include('events_actor');
  });

  it('keeps no resources of subscriptions that have ended', async () => {
    const follower = follow(store(), { after: await store().head() });
    await follower.caughtUp();
    await follower.stop();
    expect(store().stats().tail.subscribers).to.equal(0);
  });

  it('ends its subscriptions when it is closed', async () => {
    const seen: string[] = [];
    for await (const { kind } of store().subscribe({
      after: await store().head(),
      signal: new AbortController().signal,
    })) {
      seen.push(kind);
      void store().close();
    }
    expect(seen).to.deep.equal(['caught_up']);
  });
});
