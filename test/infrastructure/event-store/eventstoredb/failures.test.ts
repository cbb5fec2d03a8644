import { expect } from 'chai';
import { ORIGIN } from '../../../../domain/event.ts';
import type { JsonObject } from '../../../../domain/json.ts';
import {
  createConnection,
  parseEventStoreAddress,
} from '../../../../infrastructure/event-store/eventstoredb/connection.ts';
import { openEventStoreDb } from '../../../../infrastructure/event-store/eventstoredb/eventstoredb-event-store.ts';
import { append } from '../../../../infrastructure/event-store/eventstoredb/writer.ts';
import {
  type FollowOptions,
  type Follower,
  appendEach,
  codeOf,
  collect,
  follow,
  idsOf,
  newEvent,
  newEvents,
  newStream,
} from '../../../contract/event-store-fixtures.ts';
import { eventually } from '../../../support/eventually.ts';
import { startFakeEventStoreDb } from '../../../support/fake-eventstoredb/fake-eventstoredb.ts';
import { gate } from '../../../support/gate.ts';
import { rejectionOf } from '../../../support/rejection.ts';
import { useFakeStore } from './use-store.ts';

describe('the EventStoreDB adapter, writing', () => {
  const { server, store } = useFakeStore({ appendTimeoutMs: 200 });
  const read = (stream: string) => collect(store().readStream(stream));

  it('refuses data that is not JSON immediately, without a pending append or an unhandled rejection', async () => {
    const unhandled: unknown[] = [];
    const listener = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', listener);
    try {
      const event = { ...newEvent(), data: { n: 1n } as unknown as JsonObject };
      expect(await codeOf(store().append(newStream(), [event], { expected: 'any' }))).to.equal('invalid_append');
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).to.deep.equal([]);
      expect(server().calls.appends).to.equal(0);
    } finally {
      process.off('unhandledRejection', listener);
    }
  });

  it('reports the actual revision of the server in a conflict', async () => {
    server().faults.appends = 'wrong_version';
    const error: unknown = await rejectionOf(store().append(newStream(), [newEvent()], { expected: 7 }));
    expect(error).to.have.property('code', 'conflict');
    expect((error as Error).cause).to.include({ expected: 7, actual: 41 });
  });

  it('throws `outcome_unknown` when the server never answers, and accepts the same append again', async () => {
    const stream = newStream();
    const events = newEvents(2);
    server().faults.appends = 'silent';
    expect(await codeOf(store().append(stream, events, { expected: 'no_stream' }))).to.equal('outcome_unknown');
    server().faults.appends = 'none';
    expect((await store().append(stream, events, { expected: 'no_stream' })).revision).to.equal(1);
    expect(idsOf(await read(stream))).to.deep.equal(idsOf(events));
  });

  it('throws `outcome_unknown` when the response is lost, and returns the first result when repeated', async () => {
    const stream = newStream();
    const events = newEvents(2);
    server().faults.appends = 'lost';
    expect(await codeOf(store().append(stream, events, { expected: 'no_stream' }))).to.equal('outcome_unknown');
    server().faults.appends = 'none';
    expect((await store().append(stream, events, { expected: 'no_stream' })).revision).to.equal(1);
    expect(await read(stream)).to.have.length(2);
  });

  it('throws `outcome_unknown` when the server did not hear from its replicas in time', async () => {
    server().faults.appends = 'timeout';
    expect(await codeOf(store().append(newStream(), [newEvent()], { expected: 'any' }))).to.equal('outcome_unknown');
  });

  it('ignores a late response without affecting later appends', async () => {
    const stream = newStream();
    server().faults.appendDelayMs = 300;
    expect(await codeOf(store().append(stream, [newEvent()], { expected: 'any' }))).to.equal('outcome_unknown');
    server().faults.appendDelayMs = 0;
    await eventually(async () => {
      expect(await read(stream)).to.have.length(1);
    });
    expect((await store().append(stream, [newEvent()], { expected: 0 })).revision).to.equal(1);
  });

  it('throws `store_unavailable` while no server listens, and writes once one does', async () => {
    await server().stop();
    expect(await codeOf(store().append(newStream(), [newEvent()], { expected: 'any' }))).to.be.oneOf([
      'store_unavailable',
      'outcome_unknown',
    ]);
    expect(await codeOf(store().append(newStream(), [newEvent()], { expected: 'any' }))).to.equal('store_unavailable');
    await server().restart();
    await eventually(async () => {
      expect((await store().append(newStream(), [newEvent()], { expected: 'any' })).revision).to.equal(0);
    });
  });

  it('throws `store_access_denied` when the credentials are refused', async () => {
    server().faults.appends = 'access_denied';
    expect(await codeOf(store().append(newStream(), [newEvent()], { expected: 'any' }))).to.equal(
      'store_access_denied',
    );
    server().faults.reads = 'access_denied';
    expect(await codeOf(store().head())).to.equal('store_access_denied');
  });

  it('throws `too_large` when the append exceeds the limit of the server', async () => {
    server().log.maxAppendSize = 1000;
    expect(
      await codeOf(store().append(newStream(), [newEvent({ data: { text: 'x'.repeat(2000) } })], { expected: 'any' })),
    ).to.equal('too_large');
  });

  it('reads the position of an append when the server does not return it', async () => {
    server().faults.withoutPosition = true;
    const stream = newStream();
    const { position } = await store().append(stream, newEvents(3), { expected: 'no_stream' });
    expect((await read(stream)).at(-1)?.position).to.equal(position);
  });

  it('does not affect the appends of one connection when another one breaks', async () => {
    const other = await startFakeEventStoreDb();
    const broken = await openEventStoreDb({ url: other.url });
    try {
      other.faults.appends = 'silent';
      server().faults.appendDelayMs = 100;
      const doomed = codeOf(broken.append(newStream(), [newEvent()], { expected: 'any' }));
      const sound = store().append(newStream(), [newEvent()], { expected: 'any' });
      await eventually(() => {
        expect([other.calls.appends, server().calls.appends]).to.deep.equal([1, 1]);
      });
      await other.restart();
      expect(await doomed).to.equal('outcome_unknown');
      expect((await sound).revision).to.equal(0);
    } finally {
      await broken.close();
      await other.stop();
    }
  });

  it('works over the shared append stream, which TLS without a user requires', async () => {
    const connection = { ...createConnection(server().url), credentials: undefined };
    const dependencies = { connection, reading: { client: connection.reader, idleMs: 1000 }, timeoutMs: 200 };
    const stream = newStream();
    const events = newEvents(2);
    try {
      const first = await append({ stream, events, expected: 'no_stream' }, dependencies);
      expect(first).to.include({ revision: 1 });
      expect(await append({ stream, events, expected: 'no_stream' }, dependencies)).to.deep.equal(first);
      expect(await codeOf(append({ stream, events: newEvents(1), expected: 0 }, dependencies))).to.equal('conflict');
      server().faults.appends = 'silent';
      expect(await codeOf(append({ stream, events: newEvents(1), expected: 1 }, dependencies))).to.equal(
        'outcome_unknown',
      );
      server().faults.appends = 'lost';
      expect(await codeOf(append({ stream, events: newEvents(1), expected: 1 }, dependencies))).to.equal(
        'outcome_unknown',
      );
      expect(server().calls.appends).to.equal(0);
    } finally {
      await Promise.all([connection.reader.dispose(), connection.writer.dispose()]);
    }
  });

  it('keeps events of a deleted and rewritten stream hidden when its retention is set', async () => {
    const stream = newStream();
    await store().append(stream, newEvents(3), { expected: 'no_stream' });
    await store().deleteStream(stream, { expected: 'any', mode: 'soft' });
    expect(await codeOf(store().setRetention(stream, { maxCount: 5 }))).to.equal('stream_deleted');
    await store().append(stream, newEvents(2), { expected: 'any' });
    await store().setRetention(stream, { maxCount: 10 });
    await store().setRetention(stream, { maxCount: 20 });
    expect((await read(stream)).map(({ revision }) => revision)).to.deep.equal([3, 4]);
    expect((await store().streamInfo(stream))?.retention).to.deep.equal({ maxCount: 20 });
  });
});

describe('the EventStoreDB adapter, reading', () => {
  const { server, store } = useFakeStore({ readTimeoutMs: 1_000 });

  it('excludes system events from reads, and reports the head that subscriptions reach', async () => {
    const stream = newStream();
    const { position } = await store().append(stream, newEvents(2), { expected: 'no_stream' });
    await store().setRetention(stream, { maxCount: 10 });
    for (let n = 0; n < 100; n += 1) server().log.addSystemEvent();
    expect(await store().head()).to.equal(position);
    expect(await store().head()).to.equal(position);
    expect(await collect(store().readAll())).to.have.length(2);
    const next = await store().append(stream, newEvents(1), { expected: 1 });
    expect(await store().head()).to.equal(next.position);
  });

  it('fails a read that the server never answers', async () => {
    server().faults.reads = 'silent';
    expect(await codeOf(store().head())).to.equal('store_unavailable');
    expect(await codeOf(collect(store().readStream(newStream())))).to.equal('store_unavailable');
  });

  it('closes a read when the caller stops early', async () => {
    await store().append(newStream(), newEvents(1000), { expected: 'any' });
    for await (const _ of store().readAll()) break;
    await store().head();
    await eventually(() => {
      expect(server().openReads()).to.equal(0);
    });
  });

  it('stops searching for an event where the log is older than its id', async () => {
    const stream = newStream();
    await store().append(stream, newEvents(50), { expected: 'any' });
    for (const record of server().log.records) record.created.setTime(Date.now() - 24 * 3600_000);
    const young = newEvent();
    expect(await store().findEvent(young.id)).to.equal(undefined);
    await store().append(stream, [young], { expected: 'any' });
    expect((await store().findEvent(young.id))?.id).to.equal(young.id);
  });

  it('refuses every call once it is closed', async () => {
    await store().close();
    expect(await codeOf(store().append(newStream(), [newEvent()], { expected: 'any' }))).to.equal('store_unavailable');
    expect(await codeOf(store().head())).to.equal('store_unavailable');
    expect(await collect(store().subscribe({ after: ORIGIN, signal: new AbortController().signal }))).to.deep.equal([]);
  });

  it('does not open when no server answers', async () => {
    await server().stop();
    expect(await codeOf(openEventStoreDb({ url: server().url }))).to.equal('store_unavailable');
  });
});

describe('the EventStoreDB adapter, subscriptions', () => {
  const errors: unknown[] = [];
  const { server, store } = useFakeStore({ watchdogMs: 50, onError: (error) => errors.push(error) });
  const followers = new Set<Follower>();
  const start = (options: Partial<FollowOptions> = {}) => {
    const follower = follow(store(), { after: ORIGIN, ...options });
    followers.add(follower);
    return follower;
  };
  const seen = (count: number) => (follower: Follower) => follower.events().length >= count;
  beforeEach(() => {
    errors.length = 0;
  });
  afterEach(async () => {
    await Promise.all([...followers].map((follower) => follower.stop()));
    followers.clear();
  });

  it('resumes at its position when the server ends it with an error', async () => {
    const follower = start();
    await follower.caughtUp();
    const stream = newStream();
    for (let n = 0; n < 5; n += 1) {
      await store().append(stream, newEvents(3), { expected: 'any' });
      await follower.until(seen(n * 3 + 1));
      server().dropReads();
    }
    await store().append(stream, newEvents(1), { expected: 'any' });
    await follower.until(seen(16));
    expect(follower.events().map(({ revision }) => revision)).to.deep.equal(Array.from({ length: 16 }, (_, n) => n));
    expect(errors.length).to.be.greaterThan(0);
  });

  it('resumes when the server was unreachable', async () => {
    const follower = start();
    await follower.caughtUp();
    await server().stop();
    await eventually(() => {
      expect(errors.length).to.be.greaterThan(1);
    });
    await server().restart();
    await eventually(() => store().append(newStream(), newEvents(2), { expected: 'any' }));
    await follower.until(seen(2));
  });

  it('reopens when the head moves and it receives nothing', async () => {
    const follower = start();
    await follower.caughtUp();
    server().faults.subscriptionsFrozen = true;
    await store().append(newStream(), newEvents(3), { expected: 'any' });
    await eventually(() => {
      expect(errors).to.have.length.greaterThan(0);
    });
    server().faults.subscriptionsFrozen = false;
    await follower.until(seen(3));
    expect(follower.events()).to.have.length(3);
  });

  it('does not reopen while the log is quiet or its consumer is slow', async () => {
    const released = gate();
    const slow = start({ onItem: (item) => (item.kind === 'events' ? released.opened : undefined) });
    const quiet = start();
    await Promise.all([slow.caughtUp(), quiet.caughtUp()]);
    await store().append(newStream(), newEvents(3), { expected: 'any' });
    await quiet.until(seen(3));
    const asked = server().calls.reads;
    // By then the watchdog of the quiet subscription has compared its position with the head several times.
    await eventually(() => {
      expect(server().calls.reads).to.be.greaterThan(asked + 3);
    });
    released.open();
    expect(errors).to.deep.equal([]);
  });

  it('stops reading from the server while its consumer is slow', async () => {
    const released = gate();
    await store().append(newStream(), newEvents(5000, {}), { expected: 'any' });
    const follower = start({ batchSize: 10, onItem: () => released.opened });
    await follower.until(seen(1));
    released.open();
    await follower.until(seen(5000));
    expect(follower.items.every((item) => item.kind !== 'events' || item.events.length <= 10)).to.equal(true);
  });

  for (const sendsCaughtUp of [true, false]) {
    it(`skips no event with a checkpoint, and reaches the head with a filter; the server ${sendsCaughtUp ? 'reports' : 'does not report'} being live`, async () => {
      server().faults.sendsCaughtUp = sendsCaughtUp;
      const wanted: string[] = [];
      for (let n = 0; n < 40; n += 1) {
        await store().append(newStream('media'), newEvents(37), { expected: 'any' });
        const events = newEvents(n % 3);
        if (events.length > 0) await store().append(newStream('entry'), events, { expected: 'any' });
        wanted.push(...idsOf(events));
      }
      await store().append(newStream('media'), newEvents(5), { expected: 'any' });
      for (let n = 0; n < 50; n += 1) server().log.addSystemEvent();
      const head = await store().head();
      const filters = [
        { categories: ['entry'] },
        { categories: ['entry'], tenant: 'default' },
        { types: ['EntryCreated'], categories: ['entry'] },
      ];
      for (const filter of filters) {
        const follower = start({ filter, batchSize: 7, onItem: () => new Promise((resolve) => setImmediate(resolve)) });
        await follower.until(() => (follower.position() ?? ORIGIN) >= head);
        await follower.caughtUp();
        expect(idsOf(follower.events())).to.deep.equal(wanted);
        let passed = ORIGIN;
        for (const item of follower.items) {
          if (item.kind === 'events') expect(item.events.every(({ position }) => position > passed)).to.equal(true);
          passed = item.position;
        }
      }
    });
  }

  it('reaches the head with a filter that matches nothing, before system events', async () => {
    await appendEach(store(), newStream('media'), newEvents(3));
    server().log.addSystemEvent();
    const head = await store().head();
    const follower = start({ filter: { categories: ['flow'] } });
    await follower.until(() => (follower.position() ?? ORIGIN) >= head);
    const next = await store().append(newStream('media'), newEvents(1), { expected: 'any' });
    await follower.until(() => (follower.position() ?? ORIGIN) >= next.position);
  });

  it('ends when the store is closed', async () => {
    const follower = start();
    await follower.caughtUp();
    await store().close();
    await follower.stop();
    await eventually(() => {
      expect(server().openReads()).to.equal(0);
    });
  });

  it('throws when the credentials are refused instead of retrying forever', async () => {
    server().faults.reads = 'access_denied';
    expect(await codeOf(collect(store().subscribe({ after: ORIGIN, signal: new AbortController().signal })))).to.equal(
      'store_access_denied',
    );
  });
});

describe('the address of an EventStoreDB', () => {
  it('may have the newer schemes', () => {
    expect(parseEventStoreAddress('kurrentdb://h:2113?tls=false').connectionString).to.equal('esdb://h:2113?tls=false');
    expect(parseEventStoreAddress('kurrentdb+discover://h').connectionString).to.equal('esdb+discover://h');
    expect(parseEventStoreAddress('esdb://u:p%40@h').credentials).to.deep.equal({ username: 'u', password: 'p@' });
  });

  it('is refused with other schemes and with options that would make results wrong', () => {
    expect(() => parseEventStoreAddress('esdb://h?throwOnAppendFailure=false')).to.throw(TypeError);
    expect(() => parseEventStoreAddress('esdb://h?throw_on_append_failure=FALSE')).to.throw(TypeError);
    expect(() => parseEventStoreAddress('http://h')).to.throw(TypeError);
  });

  it('is quoted in errors without its password', () => {
    for (const url of ['esdb://user:secret@h:port:x', 'http://user:secret@h', 'esdb://user:secret@']) {
      try {
        createConnection(url);
      } catch (error) {
        expect(JSON.stringify([String(error), String((error as Error).cause)])).not.to.contain('secret');
      }
    }
  });
});
