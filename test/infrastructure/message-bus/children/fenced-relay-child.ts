import { createInterface } from 'node:readline';
import { createEntryHistory } from '../../../../application/content/entry-history.ts';
import { createRelay } from '../../../../application/platform/relay.ts';
import type { MessageBus } from '../../../../application/ports/message-bus.ts';
import { isAppError } from '../../../../domain/errors.ts';
import { openPostgresEventStore } from '../../../../infrastructure/event-store/postgres/postgres-event-store.ts';
import { openDatabase } from '../../../../infrastructure/postgres/database.ts';
import { createLeases } from '../../../../infrastructure/postgres/leases.ts';
import { startFollower } from '../../../../projections/engine/follower.ts';
import { openTestKafka } from '../../../support/kafka.ts';

/**
 * A leased relay in a separate process, for tests that suspend it. Arguments: `<brokers> <prefix> <database url> <name>
 * <place>`. At its place, `open` or `publish`, it says `standing` once and waits for a line of input.
 */
const [brokers = '', prefix = '', url = '', name = '', place = ''] = process.argv.slice(2);

const input = createInterface({ input: process.stdin });
const line = new Promise<void>((resolve) => {
  input.once('line', () => {
    resolve();
  });
});
let hasStood = false;
async function standAt(here: string): Promise<void> {
  if (here !== place || hasStood) return;
  hasStood = true;
  console.log('standing');
  await line;
}
async function said<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    const result = await work;
    console.log(`${what} done`);
    return result;
  } catch (error) {
    console.log(`${what} refused: ${isAppError(error) ? error.code : String(error)}`);
    throw error;
  }
}

const bus = await openTestKafka({ brokers });
const openPublisher: MessageBus['openPublisher'] = async (options) => {
  await standAt('open');
  const publisher = await said('open', bus.openPublisher(options));
  return {
    ...publisher,
    async publish(messages) {
      await standAt('publish');
      await said('publish', publisher.publish(messages));
    },
  };
};
const database = openDatabase({ url, maxConnections: 5 });
const eventStore = await openPostgresEventStore({ database });
const history = createEntryHistory({ eventStore });
startFollower({
  name: 'relay',
  eventStore,
  leases: createLeases({ database, owner: name, ttlMs: 1_000 }),
  database,
  handler: {
    kind: 'steps',
    handle: createRelay({
      bus: { openPublisher },
      prefix,
      changeOf: (event) => history.changeOf(event),
      maxCharacters: 20_000,
    }),
  },
});
