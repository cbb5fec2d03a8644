import { expect } from 'chai';
import { type GlobalPosition, ORIGIN, positionFrom } from '../../../domain/event.ts';
import { openEventStoreDb } from '../../../infrastructure/event-store/eventstoredb/eventstoredb-event-store.ts';
import { applyUntil } from '../../../projections/engine/apply-until.ts';
import { newEvent } from '../../contract/event-store-fixtures.ts';
import { startFakeEventStoreDb } from '../../support/fake-eventstoredb/fake-eventstoredb.ts';

describe('applying the log up to a position', () => {
  it('ends at a position after the last event, such as that of a system event of EventStoreDB', async () => {
    const server = await startFakeEventStoreDb();
    const eventStore = await openEventStoreDb({ url: server.url });
    try {
      await eventStore.append('note-default.1', [newEvent(), newEvent()], { expected: 'no_stream' });
      // Fewer than the server examines between two checkpoints, so it reports no position after the last event.
      for (let n = 0; n < 20; n += 1) server.log.addSystemEvent();
      const until = positionFrom(server.log.records.at(-1)!.position);
      const moves: (readonly [events: number, to: GlobalPosition])[] = [];
      const reached = await applyUntil({
        eventStore,
        filter: { categories: ['note'] },
        after: ORIGIN,
        until,
        signal: new AbortController().signal,
        commit(events, { to }) {
          moves.push([events.length, to]);
          return Promise.resolve();
        },
      });
      expect(reached).to.equal(until);
      expect(moves.reduce((sum, [events]) => sum + events, 0)).to.equal(2);
      expect(moves.at(-1)).to.deep.equal([0, until]);
    } finally {
      await eventStore.close();
      await server.stop();
    }
  });
});
