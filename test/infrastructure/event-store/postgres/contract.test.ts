import { openPostgresEventStore } from '../../../../infrastructure/event-store/postgres/postgres-event-store.ts';
import { openDatabase } from '../../../../infrastructure/postgres/database.ts';
import { eventStoreContract } from '../../../contract/event-store.ts';
import { useDatabase } from '../../../support/database.ts';

describe('the Postgres event store', () => {
  const database = useDatabase();
  eventStoreContract({
    name: 'postgres',
    hooks: { another: true, dropConnections: true, appendMany: true },
    open: async () => {
      const own = openDatabase({ url: database.url(), applicationName: 'under-test' });
      const store = await openPostgresEventStore({ database: own });
      return {
        store,
        async close() {
          await store.close();
          await own.close();
        },
        async another() {
          const other = openDatabase({ url: database.url() });
          const opened = await openPostgresEventStore({ database: other });
          return {
            ...opened,
            async close() {
              await opened.close();
              await other.close();
            },
          };
        },
        async dropConnections() {
          await database
            .db()
            .query(
              `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'under-test' and datname = current_database()`,
            );
        },
      };
    },
  });
});
