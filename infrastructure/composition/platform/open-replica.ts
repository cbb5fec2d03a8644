import type { Logger } from '../../../application/ports/logger.ts';
import type { ProjectionProgress } from '../../../application/ports/projection-progress.ts';
import type { Settings } from '../../configuration/settings/index.ts';
import { type Database, openDatabase } from '../../postgres/database.ts';
import { type ReplicaReads, openReplicaReads } from '../../postgres/replica-reads.ts';
import { openParts } from '../open-parts.ts';
import type { OpenStores } from './open-stores.ts';

export type OpenReplica = Omit<ReplicaReads, 'close'> & { readonly database: Database; close(): Promise<void> };

/** Bounds of one read on a replica that hangs; later reads go to the primary until the replica answers again. */
const CONNECT_MS = 1_000;
const STATEMENT_MS = 5_000;

/**
 * Opens the read replica that `DATABASE_REPLICA_URL` names; undefined without one. A replica that is unreachable does
 * not fail the start.
 */
export async function openReplica({
  database: primary,
  signals,
  settings,
  progress,
  logger,
}: Pick<OpenStores, 'database' | 'signals'> & {
  readonly settings: Settings;
  readonly progress: ProjectionProgress;
  readonly logger: Logger;
}): Promise<OpenReplica | undefined> {
  const { databaseReplicaUrl: url, poolHealthCheckPeriodMs: checkMs } = settings;
  if (url === undefined) return undefined;
  return openParts(async (closers) => {
    const database = openDatabase({
      url,
      maxConnections: settings.databaseReplicaMaxConnections,
      idleTimeoutMs: checkMs > 0 ? checkMs : settings.connectionMaxIdleMs,
      maxLifetimeSeconds: Math.ceil(settings.connectionMaxLifetimeMs / 1000),
      applicationName: 'palimpsest reads',
      connectTimeoutMs: CONNECT_MS,
      statementTimeoutMs: STATEMENT_MS,
    });
    closers.add(() => database.close());
    const reads = await openReplicaReads({
      primary,
      replica: database,
      readModel: 'content',
      position: () => progress.position('content'),
      signals,
      logger,
    });
    closers.add(() => {
      reads.close();
    });
    return { ...reads, database };
  });
}
