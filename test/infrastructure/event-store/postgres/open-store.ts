import {
  type PostgresEventStore,
  openPostgresEventStore,
} from '../../../../infrastructure/event-store/postgres/postgres-event-store.ts';
import { openDatabase } from '../../../../infrastructure/postgres/database.ts';

/** Opens an adapter with its own pool; call `store()` inside tests and hooks only. */
export function useStore(url: () => string, applicationName = 'palimpsest'): () => PostgresEventStore {
  let store: PostgresEventStore | undefined;
  let close: () => Promise<void> = () => Promise.resolve();
  before(async () => {
    const database = openDatabase({ url: url(), applicationName });
    const opened = await openPostgresEventStore({ database });
    store = opened;
    close = async () => {
      await opened.close();
      await database.close();
    };
  });
  after(() => close());
  return () => {
    if (!store) throw new Error('the store is open inside tests and hooks only');
    return store;
  };
}
