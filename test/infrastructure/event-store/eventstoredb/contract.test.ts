import { openEventStoreDb } from '../../../../infrastructure/event-store/eventstoredb/eventstoredb-event-store.ts';
import { eventStoreContract } from '../../../contract/event-store.ts';
import { requireService } from '../../../support/adapters.ts';
import { startFakeEventStoreDb } from '../../../support/fake-eventstoredb/fake-eventstoredb.ts';

// The server answers a repeated append like the first one, without marking it: `duplicate` is always false.
eventStoreContract({
  name: 'EventStoreDB, real client, server in this process',
  hooks: { another: true, dropConnections: true },
  reportsDuplicates: false,
  open: async () => {
    const server = await startFakeEventStoreDb();
    const store = await openEventStoreDb({ url: server.url });
    return {
      store,
      async close() {
        await store.close();
        await server.stop();
      },
      another: () => openEventStoreDb({ url: server.url }),
      dropConnections: () => server.restart(),
    };
  },
});

describe('a real EventStoreDB', () => {
  const service = requireService('eventstoredb');
  eventStoreContract({
    name: 'EventStoreDB',
    hooks: { another: true },
    reportsDuplicates: false,
    open: async () => {
      const store = await openEventStoreDb({ url: service.address() });
      return { store, close: () => store.close(), another: () => openEventStoreDb({ url: service.address() }) };
    },
  });
});
