import { openMemoryEventStore } from '../../../../infrastructure/event-store/memory/memory-event-store.ts';
import { eventStoreContract } from '../../../contract/event-store.ts';

eventStoreContract({
  name: 'memory',
  hooks: { appendMany: true },
  open: () => {
    const store = openMemoryEventStore();
    return Promise.resolve({ store, close: () => store.close() });
  },
});
