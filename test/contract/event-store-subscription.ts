import { expect } from 'chai';
import type { SubscriptionItem } from '../../application/ports/event-store.ts';
import { ORIGIN } from '../../domain/event.ts';
import { gate } from '../support/gate.ts';
import type { ContractContext } from './event-store-context.ts';
import {
  type FollowOptions,
  type Follower,
  LARGE,
  appendEach,
  collect,
  follow,
  idsOf,
  newEvent,
  newEvents,
  newLargeEvents,
  newStream,
  newTenant,
  positionsOf,
  revisionsOf,
} from './event-store-fixtures.ts';

/** Subscriptions: order, resumption, filters, back-pressure, ends. */
export function subscriptionCases(context: ContractContext): void {
  const { store } = context;

  describe('subscribe', () => {
    const followers = new Set<Follower>();
    afterEach(async () => {
      await Promise.all([...followers].map((follower) => follower.stop()));
      followers.clear();
    });
    function start(options: FollowOptions): Follower {
      const follower = follow(store(), options);
      followers.add(follower);
      return follower;
    }
    const seen = (count: number) => (follower: Follower) => follower.events().length >= count;
    const kinds = (items: readonly SubscriptionItem[]) => items.map(({ kind }) => kind);

    it('yields events appended before it started', async () => {
      const after = await store().head();
      const events = newEvents(3);
      await store().append(newStream(), events, { expected: 'no_stream' });
      const follower = start({ after });
      await follower.until(seen(3));
      expect(idsOf(follower.events())).to.deep.equal(idsOf(events));
    });

    it('yields events appended after it started', async () => {
      const follower = start({ after: await store().head() });
      await follower.caughtUp();
      const events = newEvents(3);
      await store().append(newStream(), events, { expected: 'no_stream' });
      await follower.until(seen(3));
      expect(idsOf(follower.events())).to.deep.equal(idsOf(events));
    });

    it('yields the whole log from the origin', async () => {
      const { position } = await store().append(newStream(), newEvents(2), { expected: 'no_stream' });
      const follower = start({ after: ORIGIN });
      await follower.until(({ events }) => (events().at(-1)?.position ?? ORIGIN) >= position);
      const all = await collect(store().readAll());
      expect(idsOf(follower.events())).to.deep.equal(idsOf(all));
    });

    it('yields the same events as `readAll`', async () => {
      const follower = start({ after: await store().head() });
      await follower.caughtUp();
      const after = follower.position()!;
      await store().append(newStream(), [newEvent({ data: { text: 'ä\u0000🦉', list: [1, {}] } }), newEvent()], {
        expected: 'no_stream',
      });
      await follower.until(seen(2));
      expect(follower.events()).to.deep.equal(await collect(store().readAll({ after })));
    });

    it('yields `caught_up` when there are no events after its start', async () => {
      const follower = start({ after: await store().head() });
      await follower.caughtUp();
      expect(follower.events()).to.deep.equal([]);
    });

    it('yields `caught_up` after the existing events', async () => {
      const after = await store().head();
      await store().append(newStream(), newEvents(3), { expected: 'no_stream' });
      const follower = start({ after });
      await follower.caughtUp();
      expect(kinds(follower.items).at(0)).to.equal('events');
      expect(kinds(follower.items).at(-1)).to.equal('caught_up');
      expect(follower.events()).to.have.length(3);
    });

    it('does not repeat `caught_up` while it stays live', async () => {
      const follower = start({ after: await store().head() });
      await follower.caughtUp();
      for (let n = 1; n <= 3; n += 1) {
        await store().append(newStream(), [newEvent()], { expected: 'no_stream' });
        await follower.until(seen(n));
      }
      expect(kinds(follower.items).filter((kind) => kind === 'caught_up')).to.have.length(1);
    });

    it('excludes the event at the start position', async () => {
      const [first] = await appendEach(store(), newStream(), newEvents(3));
      const follower = start({ after: first!.position });
      await follower.until(seen(2));
      expect(revisionsOf(follower.events())).to.deep.equal([1, 2]);
    });

    it('resumes after the position of any item without loss or repetition', async () => {
      const after = await store().head();
      await store().append(newStream(), newEvents(10), { expected: 'no_stream' });
      const first = start({ after, batchSize: 3 });
      await first.until(seen(10));
      const items = first.items.filter(({ kind }) => kind === 'events');
      expect(items.length).to.be.greaterThan(3);
      for (const [index, item] of items.entries()) {
        const resumed = start({ after: item.position });
        const rest = items.slice(index + 1).flatMap((later) => (later.kind === 'events' ? idsOf(later.events) : []));
        await resumed.until(seen(rest.length));
        await resumed.caughtUp();
        expect(idsOf(resumed.events())).to.deep.equal(rest);
      }
    });

    it('yields at most `batchSize` events in an item', async () => {
      const after = await store().head();
      await store().append(newStream(), newEvents(25), { expected: 'no_stream' });
      const follower = start({ after, batchSize: 10 });
      await follower.until(seen(25));
      expect(
        follower.items.every((item) => item.kind !== 'events' || (item.events.length > 0 && item.events.length <= 10)),
      ).to.equal(true);
    });

    for (const [state, isLive] of [
      ['existing', false],
      ['live', true],
    ] as const)
      it(`bounds the items of large ${state} events in bytes`, async () => {
        const after = await store().head();
        const append = async () => {
          for (let n = 0; n < 6; n += 1)
            await store().append(newStream(), newLargeEvents(3), { expected: 'no_stream' });
        };
        if (!isLive) await append();
        const follower = start({ after, batchSize: 100 });
        if (isLive) await append();
        await follower.until(seen(18));
        for (const item of follower.items) {
          if (item.kind !== 'events') continue;
          expect(item.bytes).to.be.within(item.events.length * LARGE, 6 * 1024 * 1024);
        }
      });

    it('yields items with non-decreasing positions', async () => {
      const follower = start({ after: await store().head(), filter: { categories: ['media'] } });
      for (let n = 0; n < 10; n += 1)
        await store().append(newStream(n % 2 ? 'media' : 'entry'), newEvents(2), { expected: 'no_stream' });
      await follower.until(seen(10));
      const positions = follower.items.map(({ position }) => position);
      expect(positions).to.deep.equal(positions.toSorted());
    });

    it('yields items whose position includes their last event', async () => {
      const after = await store().head();
      await store().append(newStream(), newEvents(5), { expected: 'no_stream' });
      const follower = start({ after });
      await follower.until(seen(5));
      for (const item of follower.items)
        if (item.kind === 'events') expect(item.position >= item.events.at(-1)!.position).to.equal(true);
    });

    it('yields every event once and in order under concurrent writers', async () => {
      const after = await store().head();
      const follower = start({ after });
      await Promise.all(Array.from({ length: 20 }, () => appendEach(store(), newStream(), newEvents(20))));
      await follower.until(seen(400));
      expect(positionsOf(follower.events())).to.deep.equal(positionsOf(await collect(store().readAll({ after }))));
    });

    it('loses no event when it becomes live during writes', async () => {
      const after = await store().head();
      const writing = Promise.all(Array.from({ length: 10 }, () => appendEach(store(), newStream(), newEvents(30))));
      const late: Follower[] = [];
      for (let n = 0; n < 5; n += 1) {
        const follower = start({ after, batchSize: 7 });
        late.push(follower);
        await follower.until(seen(1));
      }
      await writing;
      const expected = positionsOf(await collect(store().readAll({ after })));
      for (const follower of late) {
        await follower.until(seen(300));
        expect(positionsOf(follower.events())).to.deep.equal(expected);
      }
    });

    it('yields all events to every subscription', async () => {
      const after = await store().head();
      const both = [start({ after }), start({ after })];
      await Promise.all(both.map((follower) => follower.caughtUp()));
      const events = newEvents(4);
      await store().append(newStream(), events, { expected: 'no_stream' });
      for (const follower of both) {
        await follower.until(seen(4));
        expect(idsOf(follower.events())).to.deep.equal(idsOf(events));
      }
    });

    it('yields events although a concurrent append is refused', async () => {
      const follower = start({ after: await store().head() });
      await follower.caughtUp();
      const stream = newStream();
      await Promise.all([
        store().append(stream, newEvents(3), { expected: 'any' }),
        store()
          .append(newStream(), [newEvent()], { expected: 9 })
          .catch(() => undefined),
      ]);
      await follower.until(seen(3));
      expect(revisionsOf(follower.events())).to.deep.equal([0, 1, 2]);
    });

    describe('with a filter', () => {
      it('yields matching events only', async () => {
        const tenant = newTenant();
        const after = await store().head();
        await store().append(newStream(), newEvents(2), { expected: 'no_stream' });
        await store().append(newStream('entry', tenant), newEvents(2, { tenant }), { expected: 'no_stream' });
        const follower = start({ after, filter: { tenant } });
        await follower.caughtUp();
        await store().append(newStream(), newEvents(2), { expected: 'no_stream' });
        await store().append(newStream('media', tenant), newEvents(2, { tenant }), { expected: 'no_stream' });
        await follower.until(seen(4));
        expect(follower.events().every(({ metadata }) => metadata.tenant === tenant)).to.equal(true);
      });

      it('yields the events of its categories and types', async () => {
        const follower = start({
          after: await store().head(),
          filter: { categories: ['entry'], types: ['EntryDeleted'] },
        });
        await follower.caughtUp();
        await store().append(newStream('media'), [newEvent({ type: 'EntryDeleted' })], { expected: 'no_stream' });
        await store().append(
          newStream('entry'),
          [newEvent({ type: 'EntryCreated' }), newEvent({ type: 'EntryDeleted' })],
          { expected: 'no_stream' },
        );
        await follower.until(seen(1));
        expect(revisionsOf(follower.events())).to.deep.equal([1]);
      });

      it('advances its position over existing events that do not match', async () => {
        const after = await store().head();
        const { position } = await store().append(newStream(), newEvents(3), { expected: 'no_stream' });
        const follower = start({ after, filter: { tenant: newTenant() } });
        await follower.until(() => (follower.position() ?? ORIGIN) >= position);
        expect(follower.events()).to.deep.equal([]);
      });

      it('advances its position over live events that do not match', async () => {
        const follower = start({ after: await store().head(), filter: { tenant: newTenant() } });
        await follower.caughtUp();
        const { position } = await store().append(newStream(), newEvents(3), { expected: 'no_stream' });
        await follower.until(() => (follower.position() ?? ORIGIN) >= position);
        expect(kinds(follower.items).at(-1)).to.equal('checkpoint');
      });

      it('loses no matching event when it resumes after a checkpoint', async () => {
        const tenant = newTenant();
        const after = await store().head();
        const { position } = await store().append(newStream(), newEvents(3), { expected: 'no_stream' });
        const first = start({ after, filter: { tenant } });
        await first.until(() => (first.position() ?? ORIGIN) >= position);
        await first.stop();
        await store().append(newStream('entry', tenant), newEvents(2, { tenant }), { expected: 'no_stream' });
        const second = start({ after: first.position()!, filter: { tenant } });
        await second.until(seen(2));
      });

      it('finds rare matches in a long log', async () => {
        const tenant = newTenant();
        const after = await store().head();
        for (let n = 0; n < 3; n += 1) {
          await store().append(newStream(), newEvents(1000), { expected: 'no_stream' });
          await store().append(newStream('entry', tenant), newEvents(1, { tenant }), { expected: 'no_stream' });
        }
        const follower = start({ after, filter: { tenant }, batchSize: 100 });
        await follower.until(seen(3));
        await follower.caughtUp();
        expect(follower.events()).to.have.length(3);
      });
    });

    describe('with a slow consumer', () => {
      it('yields everything in order', async () => {
        const released = gate();
        const after = await store().head();
        const follower = start({ after, batchSize: 50, onItem: () => released.opened });
        await follower.caughtUp();
        for (let n = 0; n < 8; n += 1) await store().append(newStream(), newEvents(500), { expected: 'no_stream' });
        released.open();
        await follower.until(seen(4000), 20_000);
        expect(positionsOf(follower.events())).to.deep.equal(positionsOf(await collect(store().readAll({ after }))));
      });

      it('does not delay another subscription', async () => {
        const released = gate();
        const after = await store().head();
        const slow = start({ after, onItem: () => released.opened });
        const quick = start({ after });
        await Promise.all([slow.caughtUp(), quick.caughtUp()]);
        await store().append(newStream(), newEvents(100), { expected: 'no_stream' });
        await quick.until(seen(100));
        expect(slow.events().length).to.be.lessThan(100);
        released.open();
        await slow.until(seen(100));
      });
    });

    describe('when it ends', () => {
      it('completes when its signal aborts while it waits', async () => {
        const follower = start({ after: await store().head() });
        await follower.caughtUp();
        await follower.stop();
      });

      it('completes immediately when its signal has already aborted', async () => {
        expect(await collect(store().subscribe({ after: ORIGIN, signal: AbortSignal.abort() }))).to.deep.equal([]);
      });

      it('completes when its signal aborts while it catches up', async () => {
        await store().append(newStream(), newEvents(500), { expected: 'no_stream' });
        const controller = new AbortController();
        let events = 0;
        for await (const item of store().subscribe({ after: ORIGIN, batchSize: 10, signal: controller.signal })) {
          if (item.kind === 'events') events += item.events.length;
          controller.abort();
        }
        expect(events).to.be.at.most(10);
      });

      it('stops when the caller stops iterating', async () => {
        await store().append(newStream(), newEvents(5), { expected: 'no_stream' });
        for await (const item of store().subscribe({ after: ORIGIN, signal: new AbortController().signal })) {
          expect(item.kind).to.equal('events');
          break;
        }
      });

      it('does not affect other subscriptions', async () => {
        const after = await store().head();
        const [one, other] = [start({ after }), start({ after })];
        await Promise.all([one.caughtUp(), other.caughtUp()]);
        await one.stop();
        await store().append(newStream(), newEvents(2), { expected: 'no_stream' });
        await other.until(seen(2));
      });
    });

    if (context.hooks.another) {
      it('yields the appends of another process', async () => {
        const follower = start({ after: await store().head() });
        await follower.caughtUp();
        const other = await context.opened().another!();
        try {
          const events = newEvents(3);
          await other.append(newStream(), events, { expected: 'no_stream' });
          await follower.until(seen(3));
          expect(idsOf(follower.events())).to.deep.equal(idsOf(events));
        } finally {
          await other.close();
        }
      });

      it('yields the interleaved appends of two processes once and in order', async () => {
        const after = await store().head();
        const follower = start({ after });
        await follower.caughtUp();
        const other = await context.opened().another!();
        try {
          await Promise.all(
            Array.from({ length: 10 }, (_, n) => appendEach(n % 2 ? other : store(), newStream(), newEvents(20))),
          );
          await follower.until(seen(200));
          expect(positionsOf(follower.events())).to.deep.equal(positionsOf(await collect(store().readAll({ after }))));
        } finally {
          await other.close();
        }
      });
    }

    if (context.hooks.dropConnections) {
      it('continues without loss or repetition when its connection breaks', async () => {
        const after = await store().head();
        const follower = start({ after });
        await follower.caughtUp();
        const stream = newStream();
        const events = newEvents(60);
        let expected: number | 'no_stream' = 'no_stream';
        for (const [n, event] of events.entries()) {
          if (n % 20 === 10) await context.opened().dropConnections!();
          for (let send = 1; ; send += 1) {
            try {
              expected = (await store().append(stream, [event], { expected })).revision;
              break;
            } catch (error) {
              if (send === 20) throw error;
            }
          }
        }
        await follower.until(seen(60), 20_000);
        expect(idsOf(follower.events())).to.deep.equal(idsOf(events));
      });

      it('yields events appended while its connection was broken', async () => {
        const follower = start({ after: await store().head() });
        await follower.caughtUp();
        await context.opened().dropConnections!();
        const event = newEvent();
        const stream = newStream();
        for (let send = 1; ; send += 1) {
          try {
            await store().append(stream, [event], { expected: 'no_stream' });
            break;
          } catch (error) {
            if (send === 20) throw error;
          }
        }
        await follower.until(seen(1), 20_000);
        expect(idsOf(follower.events())).to.deep.equal([event.id]);
      });
    }
  });
}
