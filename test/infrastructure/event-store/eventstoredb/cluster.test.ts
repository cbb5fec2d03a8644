import { expect } from 'chai';
import type { EventStore } from '../../../../application/ports/event-store.ts';
import { ORIGIN } from '../../../../domain/event.ts';
import { openEventStoreDb } from '../../../../infrastructure/event-store/eventstoredb/eventstoredb-event-store.ts';
import { appendEach, collect, follow, idsOf, newEvents, newStream } from '../../../contract/event-store-fixtures.ts';
import { eventually } from '../../../support/eventually.ts';
import { type FakeEventStoreDb, startFakeEventStoreDb } from '../../../support/fake-eventstoredb/fake-eventstoredb.ts';

describe('the EventStoreDB adapter, connected to a node that lags behind the leader', () => {
  let leader: FakeEventStoreDb;
  let follower: FakeEventStoreDb;
  let store: EventStore;

  beforeEach(async () => {
    leader = await startFakeEventStoreDb();
    follower = await startFakeEventStoreDb();
    follower.follow(leader);
    store = await openEventStoreDb({ url: follower.url, watchdogMs: 100, backoffMs: { first: 5, most: 100 } });
  });

  afterEach(async () => {
    await store.close();
    await Promise.all([leader.stop(), follower.stop()]);
  });

  it('reads what was just written: the stream, the log, the head, an event, and the state of the stream', async () => {
    const stream = newStream();
    const [event] = newEvents(1);
    const { position } = await store.append(stream, [event!], { expected: 'no_stream' });
    expect(idsOf(await collect(store.readStream(stream)))).to.deep.equal([event!.id]);
    expect(idsOf(await collect(store.readAll()))).to.deep.equal([event!.id]);
    expect(await store.head()).to.equal(position);
    expect((await store.findEvent(event!.id))?.position).to.equal(position);
    expect(await store.streamInfo(stream)).to.include({ state: 'active', revision: 0 });
    expect(follower.log.records).to.deep.equal([]);
  });

  for (const [kind, filter] of [
    ['without a filter', {}],
    ['with a filter', { categories: ['entry'] }],
  ] as const)
    it(`delivers every event to a subscription ${kind}, which is caught up once the node has them`, async () => {
      const events = newEvents(3);
      await appendEach(store, newStream(), events);
      const following = follow(store, { after: ORIGIN, filter });
      await eventually(() => expect(follower.openReads()).to.equal(1));
      expect(following.items.filter((item) => item.kind === 'caught_up')).to.deep.equal([]);
      follower.log.replicate(leader.log);
      await following.caughtUp();
      expect(idsOf(following.events())).to.deep.equal(idsOf(events));
      await following.stop();
    });

  it('reads from the new leader after the roles changed', async () => {
    const stream = newStream();
    await appendEach(store, stream, newEvents(2));
    follower.log.replicate(leader.log);
    follower.follow(undefined);
    leader.follow(follower);
    const { position } = await store.append(stream, newEvents(1), { expected: 1 });
    expect(await collect(store.readStream(stream))).to.have.length(3);
    expect(await store.head()).to.equal(position);
  });
});
