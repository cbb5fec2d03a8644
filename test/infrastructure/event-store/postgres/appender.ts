import { v7 as uuidv7 } from 'uuid';
import { openPostgresEventStore } from '../../../../infrastructure/event-store/postgres/postgres-event-store.ts';
import { openDatabase } from '../../../../infrastructure/postgres/database.ts';
import { appendEach, newEvents } from '../../../contract/event-store-fixtures.ts';

// A separate process that appends: `node --import tsx appender.ts <database url> <streams> <events each>`.
const [, , url = '', streams = '1', events = '1'] = process.argv;
const database = openDatabase({ url });
const store = await openPostgresEventStore({ database });
await Promise.all(
  Array.from({ length: Number(streams) }, () =>
    appendEach(store, `entry-default.${uuidv7()}`, newEvents(Number(events))),
  ),
);
await store.close();
await database.close();
