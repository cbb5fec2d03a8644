import { hasCode } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { ORIGIN, laterOf } from '../../domain/event.ts';
import type { Database } from '../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../infrastructure/postgres/quote.ts';
import { moveCheckpoint, readCheckpoint, takeCheckpoint } from './checkpoints.ts';
import type { EventSource, FollowerLogger, HeldLease, LeaseSource, SignalBus } from './collaborators.ts';
import type { TableDigest } from './digest.ts';
import { digest } from './digest.ts';
import { drive } from './drive.ts';
import { isPassing } from './faults.ts';
import type { Projection, Target } from './projection.ts';
import { checkpointName, createEmpty, installedVersion, lockSchemas, namesOf, prepareSchema, schemaExists } from './schemas.ts';
import { dropOld, swap } from './swap.ts';

export type RebuildOptions = {
  readonly database: Database;
  readonly source: EventSource;
  readonly projection: Projection;
  readonly leases: LeaseSource;
  readonly signals?: SignalBus;
  readonly logger?: FollowerLogger;
  /** Swaps in the rebuilt tables even when they differ from the live ones. */
  readonly force?: boolean;
  /** Only when the live schema holds another version; else answers at once. */
  readonly onlyOutdated?: boolean;
  /** Most events of a batch. Default 2,000. */
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
  /** `equal`: proved and swapped in; `replaced`: another version (or forced) was swapped in; `differs`: nothing was swapped; `current`: there was nothing to do. */
  readonly outcome: 'equal' | 'replaced' | 'differs' | 'current';
  /** Position that the digests hold for. */
  readonly position: GlobalPosition;
  /** Digests of the rebuilt tables. */
  readonly tables: readonly TableDigest[];
  /** Tables whose live digest is another. Empty when another version was replaced: nothing is comparable then. */
  readonly differences: readonly TableDifference[];
};

export type TableDifference = { readonly table: string; readonly live?: TableDigest; readonly rebuilt?: TableDigest };

/** Compared again at a later position before they count as different: a change of tables under way shows in one and not yet in the other. */
const COMPARISONS = 3;

/**
 * Builds a read model anew from the log beside the live one, proves it equal at the same position, and swaps it in, while reads and
 * waits go on (spec 5, rule 6; decisions D). Needs nothing of the service but the database: leases and epochs keep the live projector out.
 * @throws when an event can't be applied; the live read model is untouched then
 */
export async function rebuild(options: RebuildOptions): Promise<RebuildReport> {
  const { projection, leases, signal = new AbortController().signal } = options;
  const lease = await leases.acquire(namesOf(projection).rebuild, signal);
  try {
    return await rebuildUnder(lease, options, AbortSignal.any([signal, lease.signal]));
  } finally {
    await lease.release();
  }
}

async function rebuildUnder(lease: HeldLease, options: RebuildOptions, signal: AbortSignal): Promise<RebuildReport> {
  const { database, source, projection, leases, onProgress } = options;
  const names = namesOf(projection);
  await prepareSchema(database, projection);
  const installed = await installedVersion(database, projection.name);
  const comparable = installed === projection.version;
  if (options.onlyOutdated === true && comparable) return { projection: projection.name, outcome: 'current', position: ORIGIN, tables: [], differences: [] };
  const liveCheckpoint = checkpointName(projection.name, installed ?? projection.version);

  const { epoch } = lease;
  await database.transaction(async (tx) => {
    await lockSchemas(tx, projection.name);
    // Fences an earlier rebuild that was frozen: from here on it can't move this checkpoint, so none of its batches commits.
    const left = await takeCheckpoint(tx, { name: names.rebuild, epoch });
    if (left !== ORIGIN) await moveCheckpoint(tx, { name: names.rebuild, epoch, from: left, to: ORIGIN });
    await createEmpty(tx, projection, names.next, { bulk: true });
  }, { idleTimeoutMs: leases.ttlMs });

  let position: GlobalPosition = ORIGIN;
  let events = 0;
  let target: Target = { schema: quoteIdentifier(names.next), bulk: true };

  async function driveTo(until: GlobalPosition, phase: RebuildProgress['phase']): Promise<GlobalPosition> {
    position = await drive({
      source,
      filter: { categories: projection.categories },
      after: position,
      until,
      signal,
      ...(options.maxBatch === undefined ? {} : { maxBatch: options.maxBatch }),
      async commit(batch, { from, to }) {
        await database.transaction(async (tx) => {
          // Whether an earlier try went through is asked only here: its answer may have been lost with the connection.
          const reached = (await readCheckpoint(tx, names.rebuild))?.position;
          if (reached === to) return;
          if (batch.length > 0) await projection.apply(tx, target, batch);
          await moveCheckpoint(tx, { name: names.rebuild, epoch, from, to });
        }, { synchronousCommit: false, idleTimeoutMs: leases.ttlMs });
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

  /** From here on the target is written to as the live one is. */
  async function finish(): Promise<void> {
    target = { schema: target.schema };
    await database.transaction(async (tx) => {
      await moveCheckpoint(tx, { name: names.rebuild, epoch, from: position, to: position });
      await projection.finish?.(tx, target);
      // PostgreSQL does it by itself within minutes; until then every list would be read by bad plans.
      for (const { table } of await projection.tables(tx, target)) await tx.query(`analyze ${target.schema}.${quoteIdentifier(table)}`);
    }, { synchronousCommit: false, idleTimeoutMs: leases.ttlMs });
  }

  /** Never past the live one while both are to be compared at the same position. */
  await driveTo(comparable ? await livePosition() : await source.head(), 'filling');
  if (comparable) await driveTo(await livePosition(), 'filling');
  await finish();

  let tables: readonly TableDigest[] = [];
  let differences: readonly TableDifference[] = [];
  let proved = position;
  for (let round = 1; round <= COMPARISONS; round += 1) {
    const live = comparable ? await digest({ database, projection }) : undefined;
    if (live) await driveTo(live.position, 'proving');
    ({ tables } = await digest({ database, projection, schema: names.next, checkpoint: names.rebuild }));
    proved = live?.position ?? position;
    differences = live ? compare(live.tables, tables) : [];
    if (differences.length === 0) break;
  }
  if (differences.length > 0 && options.force !== true) {
    await database.transaction(async (tx) => {
      await lockSchemas(tx, projection.name);
      await takeCheckpoint(tx, { name: names.rebuild, epoch });
      if (await schemaExists(tx, names.next)) await tx.query(`drop schema ${target.schema} cascade`);
    });
    return { projection: projection.name, outcome: 'differs', position: proved, tables, differences };
  }

  if (!comparable) await driveTo(laterOf(position, await source.head()), 'swapping');
  for (let attempt = 1; ; attempt += 1) {
    try {
      await driveTo(laterOf(position, await livePosition()), 'swapping');
      await swap({ database, projection, liveCheckpoint, rebuildEpoch: epoch, idleTimeoutMs: leases.ttlMs, catchUp: (until) => driveTo(until, 'swapping') });
      break;
    } catch (error) {
      if (signal.aborted || attempt === 10 || hasCode(error, 'lease_lost') || !isPassing(error)) throw error;
    }
  }
  options.signals?.publish('lease', names.lease);
  options.signals?.publish('projection', JSON.stringify({ name: projection.name, position }));
  await dropOld(database, projection);
  return { projection: projection.name, outcome: comparable && differences.length === 0 ? 'equal' : 'replaced', position: proved, tables, differences };
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
