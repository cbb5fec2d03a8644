import type { EventStore } from '../../../application/ports/event-store.ts';
import type { Exclusive } from '../../../application/ports/exclusive.ts';
import type { Leases } from '../../../application/ports/leases.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { Signals } from '../../../application/ports/signals.ts';
import { reasonOf } from '../../../application/ports/transient-errors.ts';
import type { Settings } from '../../configuration/settings/index.ts';
import { openDatabaseCheck } from '../../postgres/database-check.ts';
import { type Database, openDatabase } from '../../postgres/database.ts';
import { createExclusive } from '../../postgres/exclusive.ts';
import { hasExited, nameInstance } from '../../postgres/instance.ts';
import { createLeases } from '../../postgres/leases.ts';
import { migrate } from '../../postgres/migrate.ts';
import { openParts } from '../open-parts.ts';

/** The database, the event store, and what processes use to coordinate. */
export type OpenStores = {
  readonly database: Database;
  readonly eventStore: EventStore;
  readonly signals: Signals;
  readonly leases: Leases;
  readonly exclusive: Exclusive;
  /** The connections that only leases use. */
  readonly leasePool: Database['pool'];
  /** Whether the server of the database answers. Settles within 2 seconds and never rejects. */
  readonly isDatabaseReachable: () => Promise<boolean>;
  /** Number of appends that wait for the writer of the event store; undefined when the store does not report it. */
  readonly queuedAppends: (() => number) | undefined;
  /** Unique name of this process. */
  readonly instanceId: string;
  close(): Promise<void>;
};

export type OpenStoresOptions = {
  /** `databaseUrl` is the address of a server: the caller has replaced `embedded` by it. */
  readonly settings: Settings;
  readonly logger: Logger;
};

/** Leases have their own connections, so that a busy main pool never makes a lease expire. */
const LEASE_CONNECTIONS = 2;

/**
 * Opens database, signals, event store and leases, and migrates the schemas `operational` and `eventstore`.
 * @throws when one is unreachable; nothing stays open then
 */
export function openStores({ settings, logger }: OpenStoresOptions): Promise<OpenStores> {
  return openParts(async (closers) => {
    const instanceId = nameInstance();
    const { database, leaseDatabase } = openDatabases(settings, logger);
    closers.add(() => leaseDatabase.close());
    closers.add(() => database.close());
    const check = openDatabaseCheck({ url: database.url });
    closers.add(() => check.close());
    await migrate(database);
    const signals = await openSignals({ settings, database, logger });
    closers.add(() => signals.close());
    const eventStore = await openEventStore({ url: settings.eventStoreUrl, database, logger });
    closers.add(() => eventStore.close());
    return {
      database,
      eventStore,
      signals,
      leases: createLeases({
        database: leaseDatabase,
        owner: instanceId,
        ttlMs: settings.leaseMs,
        signals,
        hasExited,
      }),
      exclusive: createExclusive({ database }),
      leasePool: leaseDatabase.pool,
      isDatabaseReachable: () => check.isReachable(),
      queuedAppends: eventStore.stats && (() => eventStore.stats?.().writer.queued ?? 0),
      instanceId,
    };
  });
}

/** @throws Error when `DATABASE_URL` is unset */
function openDatabases(
  settings: Settings,
  logger: Logger,
): { readonly database: Database; readonly leaseDatabase: Database } {
  const { databaseUrl: url } = settings;
  if (url === undefined) throw new Error('DATABASE_URL is unset');
  const onError = (error: Error): void => {
    logger.warn('a connection to the database was lost', { reason: reasonOf(error) });
  };
  const limits = {
    ...(settings.databaseConnectionWaitMs > 0 && { connectTimeoutMs: settings.databaseConnectionWaitMs }),
    lockTimeoutMs: settings.databaseLockTimeoutMs,
    idleTransactionMs: settings.databaseIdleTransactionTimeoutMs,
  };
  const leaseDatabase = openDatabase({
    ...limits,
    url,
    // A renewal that takes longer is repeated on another connection.
    statementTimeoutMs: Math.ceil(settings.leaseMs / 2),
    maxConnections: LEASE_CONNECTIONS,
    applicationName: 'palimpsest leases',
    onError,
  });
  const database = openDatabase({
    ...limits,
    statementLimits: {
      read: settings.databaseReadTimeoutMs,
      write: settings.databaseWriteTimeoutMs,
      background: settings.databaseBackgroundTimeoutMs,
    },
    url,
    maxConnections: settings.databaseMaxConnections,
    minConnections: Math.min(settings.poolMinConnections, settings.databaseMaxConnections),
    idleTimeoutMs:
      settings.poolHealthCheckPeriodMs > 0 ? settings.poolHealthCheckPeriodMs : settings.connectionMaxIdleMs,
    maxLifetimeSeconds: Math.ceil(settings.connectionMaxLifetimeMs / 1000),
    onError,
  });
  return { database, leaseDatabase };
}

async function openSignals({
  settings,
  database,
  logger,
}: {
  settings: Settings;
  database: Database;
  logger: Logger;
}): Promise<Signals> {
  const onError = (error: unknown): void => {
    logger.warn('signals between processes are unavailable; polling continues', {
      reason: reasonOf(error),
    });
  };
  if (settings.redisUrl === undefined) {
    const { openPostgresSignals } = await import('../../signals/postgres.ts');
    return openPostgresSignals({ database, onError });
  }
  const { openRedisSignals } = await import('../../signals/redis.ts');
  return openRedisSignals({ url: settings.redisUrl, onError });
}

type StoreStats = { stats?(): { readonly writer: { readonly queued: number } } };

/**
 * Opens the event store of an address: `postgres` is the embedded store in `database`, `memory` loses its events
 * (tests), else EventStoreDB.
 */
async function openEventStore({
  url,
  database,
  logger,
}: {
  readonly url: string;
  readonly database: Database;
  readonly logger: Logger;
}): Promise<EventStore & StoreStats> {
  if (url === 'memory') {
    const { openMemoryEventStore } = await import('../../event-store/memory/memory-event-store.ts');
    return openMemoryEventStore();
  }
  if (url === 'postgres') {
    const { openPostgresEventStore } = await import('../../event-store/postgres/postgres-event-store.ts');
    return openPostgresEventStore({ database, logger });
  }
  const { openEventStoreDb } = await import('../../event-store/eventstoredb/eventstoredb-event-store.ts');
  return openEventStoreDb({ url, logger });
}
