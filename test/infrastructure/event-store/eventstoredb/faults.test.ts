import { expect } from 'chai';
import { ORIGIN } from '../../../../domain/event.ts';
import type { JsonObject } from '../../../../domain/json.ts';
import { connect, parseAddress } from '../../../../infrastructure/event-store/eventstoredb/connection.ts';
import { openEventStoreDb } from '../../../../infrastructure/event-store/eventstoredb/eventstoredb-event-store.ts';
import { append } from '../../../../infrastructure/event-store/eventstoredb/writer.ts';
import type { Follower, FollowOptions } from '../../../contract/event-store-fixtures.ts';
import { appendEach, codeOf, collect, follow, idsOf, newEvent, newEvents, newStream } from '../../../contract/event-store-fixtures.ts';
import { eventually } from '../../../support/eventually.ts';
import { startFakeEventStoreDb } from '../../../support/fake-eventstoredb/fake-eventstoredb.ts';
import { useFakeStore } from './use-store.ts';

describe('EventStoreDB adapter, writing', () => {
  const { server, store } = useFakeStore({ appendTimeoutMs: 200 });
  const read = (stream: string) => collect(store().readStream(stream));

  it('refuses data that is no JSON at once, without an append that stays pending or a rejection that nobody handles', async () => {
    const unhandled: unknown[] = [];
    const listener = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', listener);
    try {
      const event = { ...newEvent(), data: { n: 1n } as unknown as JsonObject };
      expect(await codeOf(store().append(newStream(), [event], { expected: 'any' }))).to.equal('invalid_append');
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).to.deep.equal([]);
      expect(server().asked.appends).to.equal(0);
    } finally {
      process.off('unhandledRejection', listener);
    }
  });

  it('tells the revision that the server tells in a conflict', async () => {
    server().faults.appends = 'wrong_version';
    const error: unknown = await store().append(newStream(), [newEvent()], { expected: 7 }).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('code', 'conflict');
    expect((error as Error).cause).to.include({ expected: 7, actual: 41 });
  });

  it('says that the outcome is unknown when the server never answers, and takes the same append again', async () => {
    const stream = newStream();
    const events = newEvents(2);
    server().faults.appends = 'silent';
    expect(await codeOf(store().append(stream, events, { expected: 'no_stream' }))).to.equal('outcome_unknown');
    server().faults.appends = 'none';
    expect((await store().append(stream, events, { expected: 'no_stream' })).revision).to.equal(1);
    expect(idsOf(await read(stream))).to.deep.equal(idsOf(events));
  });

  it('says that the outcome is unknown when the answer is lost, and answers the first outcome to the repetition', async () => {
    const stream = newStream();
    const events = newEvents(2);
    server().faults.appends = 'lost';
    expect(await codeOf(store().append(stream, events, { expected: 'no_stream' }))).to.equal('outcome_unknown');
    server().faults.appends = 'none';
    expect((await store().append(stream, events, { expected: 'no_stream' })).revision).to.equal(1);
    expect(await read(stream)).to.have.length(2);
  });

  it('says that the outcome is unknown when the server gave up on its own replicas', async () => {
    server().faults.appends = 'timeout';
    expect(await codeOf(store().append(newStream(), [newEvent()], { expected: 'any' }))).to.equal('outcome_unknown');
  });

  it('drops an answer that comes too late, without harm to the appends after it', async () => {
    const stream = newStream();
    server().faults.appendDelayMs = 300;
    expect(await codeOf(store().append(stream, [newEvent()], { expected: 'any' }))).to.equal('outcome_unknown');
    server().faults.appendDelayMs = 0;
    await eventually(async () => {
      expect(await read(stream)).to.have.length(1);
    });
    expect((await store().append(stream, [newEvent()], { expected: 0 })).revision).to.equal(1);
  });

  it('says that the store is unavailable when nothing listens, and writes once something does', async () => {
    await server().stop();
    expect(await codeOf(store().append(newStream(), [newEvent()], { expected: 'any' }))).to.be.oneOf(['store_unavailable', 'outcome_unknown']);
    expect(await codeOf(store().append(newStream(), [newEvent()], { expected: 'any' }))).to.equal('store_unavailable');
    await server().restart();
    await eventually(async () => {
      expect((await store().append(newStream(), [newEvent()], { expected: 'any' })).revision).to.equal(0);
    });
  });

  it('says when the credentials are refused', async () => {
    server().faults.appends = 'access_denied';
    expect(await codeOf(store().append(newStream(), [newEvent()], { expected: 'any' }))).to.equal('store_access_denied');
    server().faults.reads = 'access_denied';
    expect(await codeOf(store().head())).to.equal('store_access_denied');
  });

  it('says when the server finds an append too large', async () => {
    server().log.maxAppendSize = 1000;
    expect(await codeOf(store().append(newStream(), [newEvent({ data: { text: 'x'.repeat(2000) } })], { expected: 'any' }))).to.equal('too_large');
  });

  it('reads the position back where the server does not tell it', async () => {
    server().faults.withoutPosition = true;
    const stream = newStream();
    const { position } = await store().append(stream, newEvents(3), { expected: 'no_stream' });
    expect((await read(stream)).at(-1)?.position).to.equal(position);
  });

  it('leaves the appends of one connection alone when another one breaks', async () => {
    const other = await startFakeEventStoreDb();
    const broken = await openEventStoreDb({ url: other.url });
    try {
      other.faults.appends = 'silent';
      server().faults.appendDelayMs = 100;
      const doomed = codeOf(broken.append(newStream(), [newEvent()], { expected: 'any' }));
      const sound = store().append(newStream(), [newEvent()], { expected: 'any' });
      await eventually(() => {
        expect([other.asked.appends, server().asked.appends]).to.deep.equal([1, 1]);
      });
      await other.restart();
      expect(await doomed).to.equal('outcome_unknown');
      expect((await sound).revision).to.equal(0);
    } finally {
      await broken.close();
      await other.stop();
    }
  });

  it('keeps promises over the shared stream too, which TLS without a user has', async () => {
    const connection = { ...connect(server().url), credentials: undefined };
    const options = { connection, reading: { client: connection.reader, idleMs: 1000 }, timeoutMs: 200 };
    const stream = newStream();
    const events = newEvents(2);
    try {
      const first = await append(options, stream, events, { expected: 'no_stream' });
      expect(first).to.include({ revision: 1 });
      expect(await append(options, stream, events, { expected: 'no_stream' })).to.deep.equal(first);
      expect(await codeOf(append(options, stream, newEvents(1), { expected: 0 }))).to.equal('conflict');
      server().faults.appends = 'silent';
      expect(await codeOf(append(options, stream, newEvents(1), { expected: 1 }))).to.equal('outcome_unknown');
      server().faults.appends = 'lost';
      expect(await codeOf(append(options, stream, newEvents(1), { expected: 1 }))).to.equal('outcome_unknown');
      expect(server().asked.appends).to.equal(0);
    } finally {
      await Promise.all([connection.reader.dispose(), connection.writer.dispose()]);
    }
  });

  it('keeps what a deleted and written stream hides hidden when its retention is set', async () => {
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

describe('EventStoreDB adapter, reading', () => {
  const { server, store } = useFakeStore({ readTimeoutMs: 200 });

  it('leaves system events out of reads, and the head where subscriptions get to', async () => {
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

  it('gives a read up that is never answered', async () => {
    server().faults.reads = 'silent';
    expect(await codeOf(store().head())).to.equal('store_unavailable');
    expect(await codeOf(collect(store().readStream(newStream())))).to.equal('store_unavailable');
  });

  it('leaves no read open where the reader stops early', async () => {
    await store().append(newStream(), newEvents(1000), { expected: 'any' });
    for await (const _ of store().readAll()) break;
    await store().head();
    await eventually(() => {
      expect(server().openReads()).to.equal(0);
    });
  });

  it('stops looking for an event where the log is older than the id', async () => {
    const stream = newStream();
    await store().append(stream, newEvents(50), { expected: 'any' });
    for (const record of server().log.records) record.created.setTime(Date.now() - 24 * 3600_000);
    const young = newEvent();
    expect(await store().findEvent(young.id)).to.equal(undefined);
    await store().append(stream, [young], { expected: 'any' });
    expect((await store().findEvent(young.id))?.id).to.equal(young.id);
  });

  it('refuses everything once it is closed', async () => {
    await store().close();
    expect(await codeOf(store().append(newStream(), [newEvent()], { expected: 'any' }))).to.equal('store_unavailable');
    expect(await codeOf(store().head())).to.equal('store_unavailable');
    expect(await collect(store().subscribe({ after: ORIGIN, signal: new AbortController().signal }))).to.deep.equal([]);
  });

  it('is not opened where nothing answers', async () => {
    await server().stop();
    expect(await codeOf(openEventStoreDb({ url: server().url }))).to.equal('store_unavailable');
  });
});

describe('EventStoreDB adapter, subscriptions', () => {
  const faults: unknown[] = [];
  const { server, store } = useFakeStore({ watchdogMs: 50, onError: (error) => faults.push(error) });
  const followers = new Set<Follower>();
  const start = (options: Partial<FollowOptions> = {}) => {
    const follower = follow(store(), { after: ORIGIN, ...options });
    followers.add(follower);
    return follower;
  };
  const seen = (count: number) => (follower: Follower) => follower.events().length >= count;
  beforeEach(() => {
    faults.length = 0;
  });
  afterEach(async () => {
    await Promise.all([...followers].map((follower) => follower.stop()));
    followers.clear();
  });

  it('goes on where it was when the server ends it with an error', async () => {
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
    expect(faults.length).to.be.greaterThan(0);
  });

  it('goes on when the server was away', async () => {
    const follower = start();
    await follower.caughtUp();
    await server().stop();
    await eventually(() => {
      expect(faults.length).to.be.greaterThan(1);
    });
    await server().restart();
    await eventually(() => store().append(newStream(), newEvents(2), { expected: 'any' }));
    await follower.until(seen(2));
  });

  it('begins anew when the head moves and it hears nothing', async () => {
    const follower = start();
    await follower.caughtUp();
    server().faults.subscriptionsFrozen = true;
    await store().append(newStream(), newEvents(3), { expected: 'any' });
    await eventually(() => {
      expect(faults).to.have.length.greaterThan(0);
    });
    server().faults.subscriptionsFrozen = false;
    await follower.until(seen(3));
    expect(follower.events()).to.have.length(3);
  });

  it('does not begin anew while the log is quiet or its consumer slow', async () => {
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const slow = start({ onItem: (item) => (item.kind === 'events' ? gate : undefined) });
    const quiet = start();
    await Promise.all([slow.caughtUp(), quiet.caughtUp()]);
    await store().append(newStream(), newEvents(3), { expected: 'any' });
    await quiet.until(seen(3));
    const asked = server().asked.reads;
    // The watchdog of the quiet one has looked at the head several times by then.
    await eventually(() => {
      expect(server().asked.reads).to.be.greaterThan(asked + 3);
    });
    release();
    expect(faults).to.deep.equal([]);
  });

  it('reads no further from the server than its consumer is slow', async () => {
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    await store().append(newStream(), newEvents(5000, {}), { expected: 'any' });
    const follower = start({ batchSize: 10, onItem: () => gate });
    await follower.until(seen(1));
    release();
    await follower.until(seen(5000));
    expect(follower.items.every((item) => item.kind !== 'events' || item.events.length <= 10)).to.equal(true);
  });

  for (const saysCaughtUp of [true, false]) {
    it(`passes over no event with a checkpoint, and reaches the head through filters; the server ${saysCaughtUp ? 'says' : 'does not say'} when it is through`, async () => {
      server().faults.saysCaughtUp = saysCaughtUp;
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
      const filters = [{ categories: ['entry'] }, { categories: ['entry'], tenant: 'default' }, { types: ['EntryCreated'], categories: ['entry'] }];
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

  it('reaches the head through a filter that nothing matches, system events behind it', async () => {
    await appendEach(store(), newStream('media'), newEvents(3));
    server().log.addSystemEvent();
    const head = await store().head();
    const follower = start({ filter: { categories: ['flow'] } });
    await follower.until(() => (follower.position() ?? ORIGIN) >= head);
    const next = await store().append(newStream('media'), newEvents(1), { expected: 'any' });
    await follower.until(() => (follower.position() ?? ORIGIN) >= next.position);
  });

  it('ends with the store', async () => {
    const follower = start();
    await follower.caughtUp();
    await store().close();
    await follower.stop();
    await eventually(() => {
      expect(server().openReads()).to.equal(0);
    });
  });

  it('tells when the credentials are refused instead of trying for ever', async () => {
    server().faults.reads = 'access_denied';
    expect(await codeOf(collect(store().subscribe({ after: ORIGIN, signal: new AbortController().signal })))).to.equal('store_access_denied');
  });
});

describe('EventStoreDB addresses', () => {
  it('takes the newer names of the scheme', () => {
    expect(parseAddress('kurrentdb://h:2113?tls=false').connectionString).to.equal('esdb://h:2113?tls=false');
    expect(parseAddress('kurrentdb+discover://h').connectionString).to.equal('esdb+discover://h');
    expect(parseAddress('esdb://u:p%40@h').credentials).to.deep.equal({ username: 'u', password: 'p@' });
  });

  it('refuses options that falsify answers, and other schemes', () => {
    expect(() => parseAddress('esdb://h?throwOnAppendFailure=false')).to.throw(TypeError);
    expect(() => parseAddress('esdb://h?throw_on_append_failure=FALSE')).to.throw(TypeError);
    expect(() => parseAddress('http://h')).to.throw(TypeError);
  });

  it('keeps the password out of its errors', () => {
    for (const url of ['esdb://user:secret@h:port:x', 'http://user:secret@h', 'esdb://user:secret@']) {
      try {
        connect(url);
      } catch (error) {
        expect(JSON.stringify([String(error), String((error as Error).cause)])).not.to.contain('secret');
      }
    }
  });
});
