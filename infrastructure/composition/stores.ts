import type { EventStore } from '../../application/ports/event-store.ts';
import type { Leases } from '../../application/ports/leases.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Signals } from '../../application/ports/signals.ts';
import type { Settings } from '../configuration/settings/index.ts';
import type { Database } from '../postgres/database.ts';
import { openDatabase } from '../postgres/database.ts';
import { isGone, nameInstance } from '../postgres/instance.ts';
import { createLeases } from '../postgres/leases.ts';
import { migrate } from '../postgres/migrate.ts';

/** What everything else stands on. */
export type Stores = {
  readonly database: Database;
  readonly eventStore: EventStore;
  readonly signals: Signals;
  readonly leases: Leases;
  /** Connections of their own for leases. */
  readonly leasePool: Database['pool'];
  /** Appends that wait for the store's writer, where the store can say. */
  readonly queuedAppends: (() => number) | undefined;
  /** Names this process among all that ever run. */
  readonly instanceId: string;
  close(): Promise<void>;
};

export type OpenStoresOptions = {
  /** With `databaseUrl` of a real server: `embedded` is replaced by its address before. */
  readonly settings: Settings;
  readonly logger: Logger;
};

/** Connections for leases alone: however busy the main pool is, no duty changes hands for it. */
const LEASE_CONNECTIONS = 2;

/** Opens the database (bringing its schemas up to date), the event store, signals and leases as the settings say. */
export async function openStores({ settings, logger }: OpenStoresOptions): Promise<Stores> {
  const { databaseUrl } = settings;
  if (databaseUrl === undefined) throw new Error('DATABASE_URL is unset');
  const instanceId = nameInstance();
  const onError = (error: Error): void => {
    logger.warn('database connection lost', { reason: error.message });
  };
  const leaseDatabase = openDatabase({ url: databaseUrl, maxConnections: LEASE_CONNECTIONS, applicationName: 'palimpsest leases', onError });
  const database = openDatabase({
    url: databaseUrl,
    maxConnections: settings.databaseMaxConnections,
    minConnections: Math.min(settings.poolMinConnections, settings.databaseMaxConnections),
    idleTimeoutMs: settings.poolHealthCheckPeriodMs > 0 ? settings.poolHealthCheckPeriodMs : settings.connectionMaxIdleMs,
    maxLifetimeSeconds: Math.ceil(settings.connectionMaxLifetimeMs / 1000),
    onError,
  });
  const closeDatabases = async (): Promise<void> => {
    await database.close();
    await leaseDatabase.close();
  };
  let signals: Signals | undefined;
  try {
    await migrate(database);
    const opened = (signals = await openSignals({ settings, database, logger }));
    const eventStore = await openEventStore({ url: settings.eventStoreUrl, database, logger });
    return {
      database,
      eventStore,
      signals: opened,
      leases: createLeases({ database: leaseDatabase, owner: instanceId, ttlMs: settings.leaseMs, signals: opened, isGone }),
      leasePool: leaseDatabase.pool,
      queuedAppends: eventStore.stats && (() => eventStore.stats?.().writer.queued ?? 0),
      instanceId,
      async close() {
        await eventStore.close();
        await opened.close();
        await closeDatabases();
      },
    };
  } catch (error) {
    await signals?.close();
    await closeDatabases();
    throw error;
  }
}

async function openSignals({ settings, database, logger }: { settings: Settings; database: Database; logger: Logger }): Promise<Signals> {
  const onError = (error: unknown): void => {
    logger.warn('signals are away; slow polling goes on', { reason: error instanceof Error ? error.message : String(error) });
  };
  if (settings.redisUrl === undefined) {
    const { createPostgresSignals } = await import('../signals/postgres.ts');
    return createPostgresSignals({ database, onError });
  }
  const { createRedisSignals } = await import('../signals/redis.ts');
  return createRedisSignals({ url: settings.redisUrl, onError });
}

type StoreStats = { stats?(): { readonly writer: { readonly queued: number } } };

/** Opens an event store by its address: `postgres` is the one inside the database, `memory` is for tests. */
export async function openEventStore({ url, database, logger }: { readonly url: string; readonly database: Database; readonly logger: Logger }): Promise<EventStore & StoreStats> {
  if (url === 'memory') {
    const { openMemoryEventStore } = await import('../event-store/memory/memory-event-store.ts');
    return openMemoryEventStore();
  }
  if (url === 'postgres') {
    const { openPostgresEventStore } = await import('../event-store/postgres/postgres-event-store.ts');
    return openPostgresEventStore({ database, logger });
  }
  const { openEventStoreDb } = await import('../event-store/eventstoredb/eventstoredb-event-store.ts');
  return openEventStoreDb({ url, logger });
}
