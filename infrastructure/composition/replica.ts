import type { Logger } from '../../application/ports/logger.ts';
import type { ProjectionProgress } from '../../projections/engine/projection.ts';
import type { Settings } from '../configuration/settings/index.ts';
import type { Database } from '../postgres/database.ts';
import { openDatabase } from '../postgres/database.ts';
import type { ReplicaReads } from '../postgres/replica-reads.ts';
import { openReplicaReads } from '../postgres/replica-reads.ts';
import type { Stores } from './stores.ts';

export type Replica = Omit<ReplicaReads, 'close'> & { readonly database: Database; close(): Promise<void> };

/** A replica that hangs costs a read this long, once; then reads go to the primary until it answers again. */
const CONNECT_MS = 1_000;
const STATEMENT_MS = 5_000;

/** The read replica, where `DATABASE_REPLICA_URL` names one. It may be away at the start. */
export async function openReplica({ stores, settings, progress, logger }: { readonly stores: Stores; readonly settings: Settings; readonly progress: ProjectionProgress; readonly logger: Logger }): Promise<Replica | undefined> {
  const { databaseReplicaUrl: url, databaseReplicaMaxConnections: maxConnections, poolHealthCheckPeriodMs: checkMs } = settings;
  if (url === undefined) return undefined;
  const database = openDatabase({
    url,
    maxConnections,
    idleTimeoutMs: checkMs > 0 ? checkMs : settings.connectionMaxIdleMs,
    maxLifetimeSeconds: Math.ceil(settings.connectionMaxLifetimeMs / 1000),
    applicationName: 'palimpsest reads',
    connectTimeoutMs: CONNECT_MS,
    statementTimeoutMs: STATEMENT_MS,
  });
  const reads = await openReplicaReads({ primary: stores.database, replica: database, readModel: 'content', position: () => progress.position('content'), signals: stores.signals, logger });
  return {
    ...reads,
    database,
    async close() {
      reads.close();
      await database.close();
    },
  };
}
