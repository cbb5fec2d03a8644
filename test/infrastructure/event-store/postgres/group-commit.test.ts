import { expect } from 'chai';
import type { Expected } from '../../../../application/ports/event-store.ts';
import {
  codeOf,
  collect,
  newEvent,
  newEvents,
  newStream,
  revisionsOf,
} from '../../../contract/event-store-fixtures.ts';
import { useDatabase } from '../../../support/database.ts';
import { rejectionOf } from '../../../support/rejection.ts';
import { useStore } from './open-store.ts';

describe('the Postgres event store: group commit', () => {
  const database = useDatabase();
  const store = useStore(() => database.url());
  const append = (stream: string, expected: Expected, count = 1) =>
    store().append(stream, newEvents(count), { expected });

  it('sends appends that wait together in few calls', async () => {
    const before = store().stats().writer.batches;
    await Promise.all(Array.from({ length: 200 }, () => append(newStream(), 'no_stream')));
    expect(store().stats().writer.batches - before).to.be.at.most(4);
  });

  it('sends at most 256 appends in one call', async () => {
    await Promise.all(Array.from({ length: 900 }, () => append(newStream(), 'no_stream')));
    expect(store().stats().writer.largestBatch).to.be.within(200, 256);
  });

  it('assigns positions without gaps in commit order', async () => {
    await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        append(newStream(), n % 3 === 0 ? 5 : 'any', 1 + (n % 4)).catch(() => undefined),
      ),
    );
    const positions = (await collect(store().readAll())).map(({ position }) => Number(position));
    expect(positions).to.deep.equal(positions.map((_, n) => n + 1));
  });

  it('checks a later append against an earlier one to the same stream in the same call', async () => {
    const stream = newStream();
    const before = store().stats().writer.batches;
    const results = await Promise.all([
      append(stream, 'no_stream', 2),
      append(stream, 1),
      append(stream, 'stream_exists', 3),
      append(stream, 5),
      append(stream, 'any'),
    ]);
    expect(results.map(({ revision }) => revision)).to.deep.equal([1, 2, 5, 6, 7]);
    expect(store().stats().writer.batches - before).to.equal(1);
  });

  it('checks each of several appends to one stream separately', async () => {
    const stream = newStream();
    const other = newStream();
    const codes = await Promise.all(
      [
        append(stream, 'no_stream'),
        append(stream, 'no_stream'),
        append(other, 'any'),
        append(stream, 0),
        append(stream, 0),
        append(other, 3),
        append(stream, 1),
      ].map(codeOf),
    );
    const ok = 'nothing was refused';
    expect(codes).to.deep.equal([ok, 'conflict', ok, ok, 'conflict', 'conflict', ok]);
    expect(revisionsOf(await collect(store().readStream(stream)))).to.deep.equal([0, 1, 2]);
  });

  it('recognises a repeated append within one call', async () => {
    const stream = newStream();
    const events = newEvents(2);
    const [first, second] = await Promise.all([
      store().append(stream, events, { expected: 'no_stream' }),
      store().append(stream, events, { expected: 'no_stream' }),
    ]);
    expect(second).to.deep.equal({ ...first, duplicate: true });
  });

  it('writes an atomic group as a whole among single appends', async () => {
    const taken = newStream();
    await append(taken, 'no_stream');
    const lone = newStream();
    const [single, group, later] = await Promise.allSettled([
      append(newStream(), 'no_stream'),
      store().appendMany!([
        { stream: lone, events: newEvents(2), expected: 'no_stream' },
        { stream: taken, events: newEvents(1), expected: 'no_stream' },
      ]),
      append(newStream(), 'no_stream'),
    ]);
    expect([single.status, group.status, later.status]).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    expect(await store().streamInfo(lone)).to.equal(undefined);
  });

  it('drops an append whose signal aborts while it waits', async () => {
    const controller = new AbortController();
    const [stream, other] = [newStream(), newStream()];
    const waiting = rejectionOf(store().append(stream, [newEvent()], { expected: 'any', signal: controller.signal }));
    const kept = append(other, 'any');
    controller.abort(new Error('no longer wanted'));
    expect(await waiting)
      .to.be.instanceOf(Error)
      .with.property('message', 'no longer wanted');
    expect((await kept).revision).to.equal(0);
    expect(await store().streamInfo(stream)).to.equal(undefined);
  });

  it('writes the other appends of a call when the server refuses one', async () => {
    // A trigger refuses one event, as the server might for a reason that no validation foresees.
    await database.db().query(`alter table eventstore.events add constraint poison check (type <> 'Poison')`);
    try {
      const streams = Array.from({ length: 10 }, () => newStream());
      const outcomes = await Promise.all(
        streams.map((stream, n) =>
          codeOf(store().append(stream, [newEvent({ type: n === 4 ? 'Poison' : 'Fine' })], { expected: 'no_stream' })),
        ),
      );
      expect(outcomes.filter((code) => code === 'nothing was refused')).to.have.length(9);
      expect(outcomes[4]).to.equal('invalid_append');
    } finally {
      await database.db().query('alter table eventstore.events drop constraint poison');
    }
  });

  it('assigns non-decreasing recording times along the log', async () => {
    const times = (await collect(store().readAll())).map(({ recorded_at: at }) => at);
    expect(times).to.deep.equal(times.toSorted());
  });

  it('throws `store_unavailable` and writes nothing when the head stays locked', async () => {
    const stream = newStream();
    const event = newEvent();
    await database.db().outerTransaction(async (tx) => {
      await tx.query('select 1 from eventstore.head for update');
      expect(await codeOf(store().append(stream, [event], { expected: 'no_stream' }))).to.equal('store_unavailable');
    });
    expect((await store().append(stream, [event], { expected: 'no_stream' })).duplicate).to.equal(false);
  });

  it('refuses appends after it was closed', async () => {
    await store().close();
    expect(await codeOf(append(newStream(), 'any'))).to.equal('store_unavailable');
  });
});
