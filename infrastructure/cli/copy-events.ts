import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { EventStore } from '../../application/ports/event-store.ts';
import type { CopyProgress } from '../../application/platform/copy-events.ts';
import { copyEvents } from '../../application/platform/copy-events.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { createLogger } from '../logging/create-logger.ts';
import type { ProgressBar } from './progress.ts';
import { progressBar } from './progress.ts';

const USAGE = 'usage: palimpsest copy-events --from <url> --to <url>   (postgres://… is the event store in that database, esdb://… or kurrentdb://… a server of its own)\n';

/**
 * `palimpsest copy-events --from <url> --to <url>` (rule 4): one JSON line on stdout, progress on stderr.
 * @returns 0 when both stores hold the same, 1 when they differ, 2 for arguments that are none
 */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { from: { type: 'string' }, to: { type: 'string' } } });
  const { from: source, to: target } = values;
  if (source === undefined || target === undefined || source === target) {
    process.stderr.write(source !== undefined && source === target ? 'copy-events: --from and --to are the same store\n' : USAGE);
    return 2;
  }
  const logger = createLogger({ level: 'warn', format: 'pretty' });
  const stopping = new AbortController();
  const stop = (): void => {
    stopping.abort(new Error('stopped; run it again to go on'));
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  const from = await open(source, { logger, migrated: false });
  try {
    const to = await open(target, { logger, migrated: true });
    try {
      const onProgress = progress();
      const { equal, events, streams, copied, sameOrder, differences, heads } = await copyEvents({ from: from.store, to: to.store, pause: (ms) => pause(ms), signal: stopping.signal, onProgress: onProgress.update });
      onProgress.finish();
      process.stdout.write(`${JSON.stringify({ equal, events, streams, copied, same_order: sameOrder, from_head: heads.from, to_head: heads.to, differences })}\n`);
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

type Opened = { readonly store: EventStore; close(): Promise<void> };

async function open(url: string, { logger, migrated }: { readonly logger: Logger; readonly migrated: boolean }): Promise<Opened> {
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

/** A bar a phase. */
function progress(): { readonly update: (progress: CopyProgress) => void; readonly finish: () => void } {
  let current: { readonly phase: CopyProgress['phase']; readonly bar: ProgressBar } | undefined;
  return {
    update({ phase, done, total }) {
      if (current?.phase !== phase) {
        current?.bar.finish();
        current = { phase, bar: progressBar(phase === 'copying' ? { label: 'Copying', unit: 'positions', total } : { label: 'Comparing', unit: 'events', total }) };
      }
      current.bar.update(done, total);
    },
    finish() {
      current?.bar.finish();
    },
  };
}
