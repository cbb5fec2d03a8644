import type { EventStore } from '../../../../application/ports/event-store.ts';
import {
  type EventStoreDbOptions,
  openEventStoreDb,
} from '../../../../infrastructure/event-store/eventstoredb/eventstoredb-event-store.ts';
import { type FakeEventStoreDb, startFakeEventStoreDb } from '../../../support/fake-eventstoredb/fake-eventstoredb.ts';

/** A new server and a store on it for every test. */
export function useFakeStore(options: Omit<EventStoreDbOptions, 'url'> = {}): {
  readonly server: () => FakeEventStoreDb;
  readonly store: () => EventStore;
} {
  let server: FakeEventStoreDb;
  let store: EventStore;
  beforeEach(async () => {
    server = await startFakeEventStoreDb();
    store = await openEventStoreDb({ url: server.url, backoffMs: { first: 5, most: 100 }, ...options });
  });
  afterEach(async () => {
    await store.close();
    await server.stop();
  });
  return { server: () => server, store: () => store };
}
