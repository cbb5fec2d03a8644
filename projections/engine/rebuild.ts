import type { EventStore } from '../../application/ports/event-store.ts';
import type { Lease, Leases } from '../../application/ports/leases.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Signals } from '../../application/ports/signals.ts';
import { isTransient } from '../../application/ports/transient-errors.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import { type GlobalPosition, ORIGIN, laterOf } from '../../domain/event.ts';
import type { Database } from '../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../infrastructure/postgres/quote.ts';
import { applyUntil } from './apply-until.ts';
import { moveCheckpoint, readCheckpoint, takeCheckpoint } from './checkpoints.ts';
import { type TableDigest, digest } from './digest.ts';
import type { Projection, Target } from './projection.ts';
import {
  checkpointName,
  createEmpty,
  installedVersion,
  lockSchemas,
  namesOf,
  prepareSchema,
  schemaExists,
} from './schemas.ts';
import { dropOld, swap } from './swap.ts';

export type RebuildOptions = {
  readonly database: Database;
  readonly source: Pick<EventStore, 'head' | 'subscribe'>;
  readonly projection: Projection;
  readonly leases: Leases;
  readonly signals?: Pick<Signals, 'publish' | 'subscribe'>;
  readonly logger?: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Swaps in the rebuilt tables even if they differ from the live ones. */
  readonly force?: boolean;
  /** Rebuilds only if the live schema has another version; otherwise returns immediately. */
  readonly onlyOutdated?: boolean;
  /** Maximum number of events in a batch. Default 2,000. */
  readonly maxBatch?: number;
  readonly onProgress?: (progress: RebuildProgress) => void;
  readonly signal?: AbortSignal;
};

export type RebuildProgress = {
  readonly projection: string;
  readonly phase: 'filling' | 'proving' | 'swapping';
  readonly position: GlobalPosition;
  readonly target: GlobalPosition;
  /** Events applied so far. */
  readonly events: number;
};

export type RebuildReport = {
  readonly projection: string;
  /**
   * `equal`: the rebuilt tables were equal and were swapped in. `replaced`: another version was replaced, or the swap
   * was forced. `differs`: nothing was swapped. `current`: the live version was already current.
   */
  readonly outcome: 'equal' | 'replaced' | 'differs' | 'current';
  /** Position of the digests. */
  readonly position: GlobalPosition;
  /** Digests of the rebuilt tables. */
  readonly tables: readonly TableDigest[];
  /**
   * Tables whose live digest differs. Empty when another version was replaced, because its tables are not comparable.
   */
  readonly differences: readonly TableDifference[];
};

export type TableDifference = { readonly table: string; readonly live?: TableDigest; readonly rebuilt?: TableDigest };

/**
 * Number of comparisons, each at a later position, before tables count as different: a concurrent change of tables may
 * show in only one of the two schemas.
 */
const COMPARISONS = 3;

/**
 * Rebuilds a read model from the log in a second schema, compares it with the live one at the same position, and swaps
 * it in. Reads and waits continue meanwhile. Needs only the database, not a running service: leases and epochs exclude
 * the live projector.
 * @throws when an event cannot be applied; the live read model is then unchanged
 */
export async function rebuild(options: RebuildOptions): Promise<RebuildReport> {
  const { projection, leases, signal = new AbortController().signal } = options;
  const lease = await leases.acquire(namesOf(projection).rebuild, signal);
  try {
    return await rebuildUnder(lease, options, AbortSignal.any([signal, lease.signal]));
  } catch (error) {
    // A later rebuild has replaced the tables; then this one fails on tables or rows that it does not expect.
    if (!isTransient(error) && !(await lease.isHeld())) throw refusal('lease_lost');
    throw error;
  } finally {
    await lease.release();
  }
}

async function rebuildUnder(lease: Lease, options: RebuildOptions, signal: AbortSignal): Promise<RebuildReport> {
  const { database, source, projection, leases, onProgress } = options;
  const names = namesOf(projection);
  await prepareSchema(database, projection);
  const installed = await installedVersion(database, projection.name);
  const comparable = installed === projection.version;
  if (options.onlyOutdated === true && comparable)
    return { projection: projection.name, outcome: 'current', position: ORIGIN, tables: [], differences: [] };
  const liveCheckpoint = checkpointName(projection.name, installed ?? projection.version);

  const { epoch } = lease;
  await database.transaction(
    async (tx) => {
      await lockSchemas(tx, projection.name);
      // Fences an earlier rebuild whose process was frozen: it can no longer move this checkpoint, so none of its
      // batches commits.
      const left = await takeCheckpoint(tx, { name: names.rebuild, epoch });
      if (left !== ORIGIN) await moveCheckpoint(tx, { name: names.rebuild, epoch, from: left, to: ORIGIN });
      await createEmpty(tx, projection, { schema: names.next, bulk: true });
    },
    { idleTimeoutMs: leases.ttlMs },
  );

  let position: GlobalPosition = ORIGIN;
  let events = 0;
  let target: Target = { schema: quoteIdentifier(names.next), bulk: true };

  async function catchUpTo(until: GlobalPosition, phase: RebuildProgress['phase']): Promise<GlobalPosition> {
    position = await applyUntil({
      source,
      filter: { categories: projection.categories },
      after: position,
      until,
      signal,
      ...(options.maxBatch === undefined ? {} : { maxBatch: options.maxBatch }),
      async commit(batch, { from, to }) {
        await database.transaction(
          async (tx) => {
            // An earlier attempt may have committed although its answer was lost with the connection.
            const reached = (await readCheckpoint(tx, names.rebuild))?.position;
            if (reached === to) return;
            if (batch.length > 0) await projection.apply(tx, target, batch);
            await moveCheckpoint(tx, { name: names.rebuild, epoch, from, to });
          },
          { synchronousCommit: false, idleTimeoutMs: leases.ttlMs },
        );
        events += batch.length;
        position = to;
        onProgress?.({ projection: projection.name, phase, position, target: until, events });
      },
    });
    return position;
  }

  async function livePosition(): Promise<GlobalPosition> {
    return (await readCheckpoint(database, liveCheckpoint))?.position ?? ORIGIN;
  }

  /** Completes the bulk load; from here on the target is written like a live schema. */
  async function finish(): Promise<void> {
    target = { schema: target.schema };
    await database.transaction(
      async (tx) => {
        await moveCheckpoint(tx, { name: names.rebuild, epoch, from: position, to: position });
        await projection.finish?.(tx, target);
        // Autovacuum analyzes the tables only minutes later; until then lists would use bad plans.
        for (const { table } of await projection.tables(tx, target))
          await tx.query(`analyze ${target.schema}.${quoteIdentifier(table)}`);
      },
      { synchronousCommit: false, idleTimeoutMs: leases.ttlMs },
    );
  }

  // The rebuilt read model must not pass the live one, because both are compared at the same position.
  await catchUpTo(comparable ? await livePosition() : await source.head(), 'filling');
  if (comparable) await catchUpTo(await livePosition(), 'filling');
  await finish();

  let tables: readonly TableDigest[] = [];
  let differences: readonly TableDifference[] = [];
  let comparedAt = position;
  for (let round = 1; round <= COMPARISONS; round += 1) {
    const live = comparable ? await digest({ database, projection }) : undefined;
    if (live) await catchUpTo(live.position, 'proving');
    ({ tables } = await digest({ database, projection, schema: names.next, checkpoint: names.rebuild }));
    comparedAt = live?.position ?? position;
    differences = live ? compare(live.tables, tables) : [];
    if (differences.length === 0) break;
  }
  if (differences.length > 0 && options.force !== true) {
    await database.transaction(async (tx) => {
      await lockSchemas(tx, projection.name);
      await takeCheckpoint(tx, { name: names.rebuild, epoch });
      if (await schemaExists(tx, names.next)) await tx.query(`drop schema ${target.schema} cascade`);
    });
    return { projection: projection.name, outcome: 'differs', position: comparedAt, tables, differences };
  }

  if (!comparable) await catchUpTo(laterOf(position, await source.head()), 'swapping');
  for (let attempt = 1; ; attempt += 1) {
    try {
      await catchUpTo(laterOf(position, await livePosition()), 'swapping');
      await swap({
        database,
        projection,
        liveCheckpoint,
        rebuildEpoch: epoch,
        idleTimeoutMs: leases.ttlMs,
        catchUp: (until) => catchUpTo(until, 'swapping'),
      });
      break;
    } catch (error) {
      if (signal.aborted || attempt === 10 || hasCode(error, 'lease_lost') || !isTransient(error)) throw error;
    }
  }
  options.signals?.publish('lease', names.lease);
  options.signals?.publish('projection', JSON.stringify({ name: projection.name, position }));
  await dropOld(database, projection);
  return {
    projection: projection.name,
    outcome: comparable && differences.length === 0 ? 'equal' : 'replaced',
    position: comparedAt,
    tables,
    differences,
  };
}

function compare(live: readonly TableDigest[], rebuilt: readonly TableDigest[]): readonly TableDifference[] {
  const names = new Set([...live, ...rebuilt].map(({ table }) => table));
  return [...names].toSorted().flatMap((table) => {
    const one = live.find((digested) => digested.table === table);
    const other = rebuilt.find((digested) => digested.table === table);
    if (one && other && one.rows === other.rows && one.checksum === other.checksum) return [];
    return [{ table, ...(one ? { live: one } : {}), ...(other ? { rebuilt: other } : {}) }];
  });
}
