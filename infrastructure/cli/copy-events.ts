import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { copyEvents } from '../../application/platform/copy-events.ts';
import type { EventStore } from '../../application/ports/event-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { createLogger } from '../logging/create-logger.ts';
import { printJson } from './print-json.ts';
import { createProgress } from './progress.ts';

const USAGE =
  'usage: palimpsest copy-events --from <url> --to <url>   (postgres://… is the event store in that database, esdb://… or kurrentdb://… an EventStoreDB)\n';

/**
 * `palimpsest copy-events --from <url> --to <url>`: copies all events between event stores and compares the stores.
 * Prints one JSON line on stdout and the progress on stderr.
 * @returns 0 when both stores contain the same events, 1 when they differ, 2 for wrong arguments
 */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { from: { type: 'string' }, to: { type: 'string' } } });
  const { from: source, to: target } = values;
  if (source === undefined || target === undefined || source === target) {
    process.stderr.write(
      source !== undefined && source === target ? 'copy-events: --from and --to are the same store\n' : USAGE,
    );
    return 2;
  }
  const logger = createLogger({ level: 'warn', format: 'pretty' });
  const stopping = new AbortController();
  const stop = (): void => {
    stopping.abort(new Error('stopped; run the command again to continue'));
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  const from = await openStore(source, { logger, migrated: false });
  try {
    const to = await openStore(target, { logger, migrated: true });
    try {
      const progress = createProgress();
      const { equal, events, streams, copied, sameOrder, differences, heads } = await copyEvents(
        {
          from: from.store,
          to: to.store,
          signal: stopping.signal,
          onProgress: ({ phase, done, total }) => {
            progress.update(STEPS[phase], done, total);
          },
        },
        { pause: (ms) => pause(ms) },
      );
      progress.finish();
      printJson({
        equal,
        events,
        streams,
        copied,
        same_order: sameOrder,
        from_head: heads.from,
        to_head: heads.to,
        differences,
      });
      return equal && sameOrder ? 0 : 1;
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  }
}

const STEPS = {
  copying: { label: 'Copying', unit: 'positions' },
  comparing: { label: 'Comparing', unit: 'events' },
} as const;

type OpenedStore = { readonly store: EventStore; close(): Promise<void> };

/** `migrated`: creates the schema of the embedded event store when it is missing. */
async function openStore(
  url: string,
  { logger, migrated }: { readonly logger: Logger; readonly migrated: boolean },
): Promise<OpenedStore> {
  if (!/^postgres(ql)?:\/\//.test(url)) {
    const { openEventStoreDb } = await import('../event-store/eventstoredb/eventstoredb-event-store.ts');
    const store = await openEventStoreDb({ url, logger });
    return { store, close: () => store.close() };
  }
  const { openDatabase } = await import('../postgres/database.ts');
  const { openPostgresEventStore } = await import('../event-store/postgres/postgres-event-store.ts');
  const database = openDatabase({ url, maxConnections: 4 });
  try {
    if (migrated) {
      const { migrate } = await import('../postgres/migrate.ts');
      await migrate(database);
    }
    const store = await openPostgresEventStore({ database, logger });
    return {
      store,
      async close() {
        await store.close();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}
