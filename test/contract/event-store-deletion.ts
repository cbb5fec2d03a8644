import { expect } from 'chai';
import type { Retention } from '../../application/ports/event-store.ts';
import { eventually } from '../support/eventually.ts';
import type { ContractContext } from './event-store-context.ts';
import { codeOf, collect, newEvent, newEvents, newStream, revisionsOf } from './event-store-fixtures.ts';

/** Deletion, retention and `streamInfo`. Events hidden from `readStream` may still appear in `readAll`. */
export function deletionCases(context: ContractContext): void {
  const { store } = context;

  async function written(count = 3) {
    const stream = newStream();
    await store().append(stream, newEvents(count), { expected: 'no_stream' });
    return stream;
  }
  const revisions = async (stream: string, direction: 'forwards' | 'backwards' = 'forwards') =>
    revisionsOf(await collect(store().readStream(stream, { direction })));
  const remove = (stream: string, mode: 'soft' | 'tombstone' = 'soft') =>
    store().deleteStream(stream, { expected: 'any', mode });

  describe('streamInfo', () => {
    it('returns undefined for a missing stream', async () => {
      expect(await store().streamInfo(newStream())).to.equal(undefined);
    });

    it('returns the last revision', async () => {
      const info = await store().streamInfo(await written(4));
      expect(info).to.deep.equal({ state: 'active', revision: 3, retention: {} });
    });

    it('returns the state `deleted` after a soft delete', async () => {
      const stream = await written();
      await remove(stream);
      expect((await store().streamInfo(stream))?.state).to.equal('deleted');
    });

    it('returns the state `tombstoned` after a tombstone', async () => {
      const stream = await written();
      await remove(stream, 'tombstone');
      expect((await store().streamInfo(stream))?.state).to.equal('tombstoned');
    });

    it('returns the state `active` for a soft-deleted stream that was written again', async () => {
      const stream = await written(3);
      await remove(stream);
      await store().append(stream, [newEvent()], { expected: 'any' });
      const info = await store().streamInfo(stream);
      expect([info?.state, info?.revision]).to.deep.equal(['active', 3]);
    });

    it('returns the retention', async () => {
      const stream = await written();
      const retention = { maxCount: 10, maxAgeSeconds: 3600, truncateBefore: 1 };
      await store().setRetention(stream, retention);
      expect((await store().streamInfo(stream))?.retention).to.deep.equal(retention);
    });
  });

  describe('a soft delete', () => {
    it('hides the events', async () => {
      const stream = await written();
      await remove(stream);
      expect(await revisions(stream)).to.deep.equal([]);
      expect(await revisions(stream, 'backwards')).to.deep.equal([]);
    });

    it('lets `no_stream` write the stream again, with continuing revisions', async () => {
      const stream = await written(3);
      await remove(stream);
      expect((await store().append(stream, [newEvent()], { expected: 'no_stream' })).revision).to.equal(3);
      expect(await revisions(stream)).to.deep.equal([3]);
    });

    it('lets `any` write the stream again', async () => {
      const stream = await written(3);
      await remove(stream);
      expect((await store().append(stream, newEvents(2), { expected: 'any' })).revision).to.equal(4);
      expect(await revisions(stream, 'backwards')).to.deep.equal([4, 3]);
    });

    it('lets the last revision write the stream again', async () => {
      const stream = await written(3);
      await remove(stream);
      expect((await store().append(stream, [newEvent()], { expected: 2 })).revision).to.equal(3);
    });

    it('makes `stream_exists` conflict', async () => {
      const stream = await written();
      await remove(stream);
      expect(await codeOf(store().append(stream, [newEvent()], { expected: 'stream_exists' }))).to.be.oneOf([
        'conflict',
        'stream_deleted',
      ]);
    });

    it('makes `no_stream` conflict once the stream was written again', async () => {
      const stream = await written();
      await remove(stream);
      await store().append(stream, [newEvent()], { expected: 'no_stream' });
      expect(await codeOf(store().append(stream, [newEvent()], { expected: 'no_stream' }))).to.equal('conflict');
    });

    it('succeeds with the last revision as expected revision', async () => {
      const stream = await written(3);
      await store().deleteStream(stream, { expected: 2, mode: 'soft' });
      expect(await revisions(stream)).to.deep.equal([]);
    });

    it('is refused at another revision', async () => {
      const stream = await written(3);
      expect(await codeOf(store().deleteStream(stream, { expected: 1, mode: 'soft' }))).to.equal('conflict');
      expect(await revisions(stream)).to.deep.equal([0, 1, 2]);
    });

    it('does not affect other streams', async () => {
      const [stream, other] = [await written(), await written()];
      await remove(stream);
      expect(await revisions(other)).to.deep.equal([0, 1, 2]);
    });

    it('does not affect the order of the log', async () => {
      const after = await store().head();
      const stream = await written(3);
      await remove(stream);
      await store().append(newStream(), newEvents(1), { expected: 'no_stream' });
      const positions = (await collect(store().readAll({ after }))).map(({ position }) => position);
      expect(positions).to.deep.equal(positions.toSorted());
      expect(positions.length).to.be.within(1, 4);
    });
  });

  describe('a tombstone', () => {
    it('hides the events', async () => {
      const stream = await written();
      await remove(stream, 'tombstone');
      expect(await revisions(stream)).to.deep.equal([]);
    });

    for (const expected of ['any', 'no_stream', 'stream_exists', 2] as const) {
      it(`permanently refuses appends: ${expected}`, async () => {
        const stream = await written(3);
        await remove(stream, 'tombstone');
        expect(await codeOf(store().append(stream, [newEvent()], { expected }))).to.equal('stream_deleted');
      });
    }

    it('refuses another deletion', async () => {
      const stream = await written();
      await remove(stream, 'tombstone');
      expect(await codeOf(remove(stream, 'tombstone'))).to.equal('stream_deleted');
    });

    it('is refused at another revision', async () => {
      const stream = await written(3);
      expect(await codeOf(store().deleteStream(stream, { expected: 0, mode: 'tombstone' }))).to.equal('conflict');
      expect((await store().streamInfo(stream))?.state).to.equal('active');
    });

    it('may follow a soft delete', async () => {
      const stream = await written(3);
      await remove(stream);
      await remove(stream, 'tombstone');
      expect((await store().streamInfo(stream))?.state).to.equal('tombstoned');
    });
  });

  describe('setRetention', () => {
    async function kept(retention: Retention, count = 5) {
      const stream = await written(count);
      await store().setRetention(stream, retention);
      return { stream, visible: await revisions(stream) };
    }

    it('shows only the last events with `maxCount`', async () => {
      const { stream, visible } = await kept({ maxCount: 2 });
      expect(visible).to.deep.equal([3, 4]);
      expect(await revisions(stream, 'backwards')).to.deep.equal([4, 3]);
    });

    it('hides older events as the stream grows, with `maxCount`', async () => {
      const { stream } = await kept({ maxCount: 2 });
      await store().append(stream, newEvents(1), { expected: 4 });
      expect(await revisions(stream)).to.deep.equal([4, 5]);
    });

    it('hides the events before `truncateBefore`', async () => {
      const { stream, visible } = await kept({ truncateBefore: 3 });
      expect(visible).to.deep.equal([3, 4]);
      expect(await revisions(stream, 'backwards')).to.deep.equal([4, 3]);
    });

    it('starts a read at the first visible event when `from` is hidden', async () => {
      const { stream } = await kept({ truncateBefore: 3 });
      expect(revisionsOf(await collect(store().readStream(stream, { from: 1, limit: 1 })))).to.deep.equal([3]);
    });

    it('shows events younger than `maxAgeSeconds`', async () => {
      expect((await kept({ maxAgeSeconds: 3600 })).visible).to.deep.equal([0, 1, 2, 3, 4]);
    });

    it('hides events older than `maxAgeSeconds`', async () => {
      const { stream } = await kept({ maxAgeSeconds: 1 });
      await eventually(async () => {
        expect(await revisions(stream)).to.deep.equal([]);
      });
    });

    it('hides an event when any of the limits applies', async () => {
      expect((await kept({ maxCount: 3, truncateBefore: 1, maxAgeSeconds: 3600 })).visible).to.deep.equal([2, 3, 4]);
    });

    it('replaces the earlier retention', async () => {
      const { stream } = await kept({ maxCount: 2, truncateBefore: 1 });
      await store().setRetention(stream, { maxCount: 4 });
      expect((await store().streamInfo(stream))?.retention).to.deep.equal({ maxCount: 4 });
    });

    it('does not change revisions', async () => {
      const { stream } = await kept({ maxCount: 1 });
      expect((await store().append(stream, [newEvent()], { expected: 4 })).revision).to.equal(5);
    });

    it('keeps repeated appends idempotent', async () => {
      const stream = newStream();
      const events = newEvents(1);
      const first = await store().append(stream, events, { expected: 'no_stream' });
      await store().append(stream, newEvents(1), { expected: 0 });
      await store().setRetention(stream, { maxCount: 1000 });
      expect((await store().append(stream, events, { expected: 'no_stream' })).position).to.equal(first.position);
    });

    for (const [name, retention] of [
      ['a maxCount of 0', { maxCount: 0 }],
      ['a negative age', { maxAgeSeconds: -1 }],
      ['a broken revision', { truncateBefore: 1.5 }],
    ] as const) {
      it(`refuses ${name}`, async () => {
        expect(await codeOf(store().setRetention(await written(), retention))).to.equal('invalid_append');
      });
    }

    it('is refused for a tombstoned stream', async () => {
      const stream = await written();
      await remove(stream, 'tombstone');
      expect(await codeOf(store().setRetention(stream, { maxCount: 1 }))).to.equal('stream_deleted');
    });
  });
}
