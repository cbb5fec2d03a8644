import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';
import type { Logger } from '../../application/ports/logger.ts';
import type { Signals } from '../../application/ports/signals.ts';
import { reasonOf } from '../../application/ports/transient-errors.ts';
import { codeOf } from '../../domain/code-of.ts';
import { type GlobalPosition, ORIGIN, laterOf, parsePosition } from '../../domain/event.ts';
import type { Database, Queryable } from './database.ts';

export type ReplicaReadsOptions = {
  readonly primary: Database;
  /** A pool on the replica, or on several replicas behind one address. */
  readonly replica: Database;
  /** Name of the read model whose checkpoint shows how far a replica is. */
  readonly readModel: string;
  /** Position of the read model on the primary, as known by this process. */
  readonly position: () => GlobalPosition;
  readonly signals: Pick<Signals, 'publish' | 'subscribe'>;
  readonly logger: Logger;
  /** Half of the maximum lag of the replica for callers with no known position, in milliseconds. Default 5,000. */
  readonly tickMs?: number;
};

export type ReadOutcome = 'replica' | 'behind' | 'away' | 'refused';

export type ReplicaReads = {
  /** Runs statements on the replica inside `read`, otherwise on the primary. */
  readonly queryable: Queryable;
  read<T>(
    reader: { readonly tenant: string; readonly minimum: GlobalPosition | undefined },
    work: () => Promise<T>,
  ): Promise<T>;
  wrote(tenant: string, position: GlobalPosition | undefined): void;
  /** Whether the replica is unreachable. */
  isUnreachable(): boolean;
  /** Number of reads since the start by outcome: answered by the replica, or by the primary and why. */
  outcomes(): Readonly<Record<ReadOutcome, number>>;
  close(): void;
};

/** A statement that failed on the replica: the read is repeated on the primary. */
class NotOnReplica extends Error {
  readonly why: Exclude<ReadOutcome, 'replica'>;
  constructor(why: Exclude<ReadOutcome, 'replica'>, cause?: unknown) {
    super('not answered by the replica', { cause });
    this.why = why;
  }
}

const CHANNEL = 'replica';
/** Positions of writes are published together at this interval. */
const PUBLISH_EVERY_MS = 10;
/** Minimum time before a connection that was behind is checked again. */
const RECHECK_AFTER_MS = 10;
const PROBE_EVERY_MS = 1_000;

const POSITION = `select c.position from operational.projections p
  join operational.checkpoints c on c.name = 'projection/' || p.name || '/' || p.version where p.name = $1`;

/**
 * Decides which reads a replica may answer. The replica must have reached the latest of three positions: the one that
 * the caller requires; the last write in the caller's tenant that this process answered or received a signal about; the
 * position of the primary one to two ticks ago. The checkpoint is read on the same connection as the rows, so several
 * replicas behind one address are safe: rows and checkpoint arrive on a replica in one transaction, and the
 * checkpoint of a server never decreases.
 */
export async function openReplicaReads({
  primary,
  replica,
  readModel,
  position,
  signals,
  logger,
  tickMs = 5_000,
}: ReplicaReadsOptions): Promise<ReplicaReads> {
  const reading = new AsyncLocalStorage<GlobalPosition>();
  const reached = new WeakMap<pg.PoolClient, { position: GlobalPosition; checkedAt: number }>();
  const writes = new Map<string, GlobalPosition>();
  const unpublished = new Map<string, GlobalPosition>();
  const outcomes: Record<ReadOutcome, number> = { replica: 0, behind: 0, away: 0, refused: 0 };
  let unreachable = false;
  let latest = laterOf(position(), readPosition(await primary.query(POSITION, [readModel])));
  /** Minimum position of every read. A new process does not know the writes before its start. */
  let baseline = latest;

  function lost(cause: unknown): void {
    if (unreachable) return;
    unreachable = true;
    logger.warn('the read replica is unreachable; reads go to the primary', {
      reason: reasonOf(cause),
    });
  }

  function remember(tenant: string, at: GlobalPosition): void {
    if (at > baseline) writes.set(tenant, laterOf(at, writes.get(tenant) ?? ORIGIN));
  }

  async function isNewEnough(client: pg.PoolClient, needed: GlobalPosition): Promise<boolean> {
    const before = reached.get(client);
    if (before && (before.position >= needed || performance.now() - before.checkedAt < RECHECK_AFTER_MS))
      return before.position >= needed;
    const { rows } = await client.query<{ position: string }>({
      text: POSITION,
      values: [readModel],
      name: 'replica-position',
    });
    const now = readPosition(rows);
    reached.set(client, { position: now, checkedAt: performance.now() });
    return now >= needed;
  }

  /** @throws NotOnReplica for every failure */
  async function onReplica<T>(needed: GlobalPosition, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    let client: pg.PoolClient | undefined;
    let failure: Error | undefined;
    try {
      client = await replica.pool.connect();
      if (!(await isNewEnough(client, needed))) throw new NotOnReplica('behind');
      return await work(client);
    } catch (error) {
      if (error instanceof NotOnReplica) throw error;
      if (isStatementRefused(error)) throw new NotOnReplica('refused', error);
      failure = error instanceof Error ? error : new Error(String(error));
      lost(failure);
      throw new NotOnReplica('away', error);
    } finally {
      client?.release(failure);
    }
  }

  // A connection lost between two statements has no query to reject.
  replica.pool.on('connect', (client) => client.on('error', lost));

  async function probe(): Promise<void> {
    try {
      await onReplica(ORIGIN, (client) => client.query('select 1'));
      if (unreachable) logger.info('the read replica is reachable again');
      unreachable = false;
    } catch {
      // `onReplica` has already logged it.
    }
  }
  const probing = setInterval(() => void probe(), PROBE_EVERY_MS);
  probing.unref();
  async function tick(): Promise<void> {
    baseline = latest;
    for (const [tenant, at] of writes) if (at <= baseline) writes.delete(tenant);
    // Signals of other processes may be lost, so the checkpoint is read as well.
    latest = laterOf(position(), await primary.query(POSITION, [readModel]).then(readPosition, () => baseline));
  }
  const ticking = setInterval(() => void tick(), tickMs);
  ticking.unref();
  void probe();

  function publish(): void {
    signals.publish(CHANNEL, JSON.stringify([...unpublished].slice(0, 10)));
    for (const [tenant] of [...unpublished].slice(0, 10)) unpublished.delete(tenant);
    if (unpublished.size > 0) publish();
  }
  const unsubscribe = signals.subscribe(CHANNEL, (payload) => {
    for (const [tenant, at] of parsePositions(payload)) remember(tenant, at);
  });

  return {
    queryable: {
      async query<Row extends object>(text: string, values?: readonly unknown[], name?: string) {
        const needed = reading.getStore();
        if (needed === undefined) return primary.query<Row>(text, values, name);
        const { rows } = await onReplica(needed, (client) =>
          client.query<Row>({ text, ...(values && { values: [...values] }), ...(name !== undefined && { name }) }),
        );
        return rows;
      },
      execute: (text, values, name) => primary.execute(text, values, name),
    },
    async read({ tenant, minimum = ORIGIN }, work) {
      if (unreachable) {
        outcomes.away += 1;
        return work();
      }
      const needed = laterOf(minimum, laterOf(baseline, writes.get(tenant) ?? ORIGIN));
      try {
        const result = await reading.run(needed, work);
        outcomes.replica += 1;
        return result;
      } catch (error) {
        if (!(error instanceof NotOnReplica)) throw error;
        outcomes[error.why] += 1;
        return work();
      }
    },
    wrote(tenant, at = position()) {
      if (at <= (writes.get(tenant) ?? baseline)) return;
      remember(tenant, at);
      if (unpublished.size === 0) setTimeout(publish, PUBLISH_EVERY_MS).unref();
      unpublished.set(tenant, laterOf(at, unpublished.get(tenant) ?? ORIGIN));
    },
    isUnreachable: () => unreachable,
    outcomes: () => outcomes,
    close() {
      clearInterval(probing);
      clearInterval(ticking);
      unsubscribe();
    },
  };
}

function readPosition([row]: readonly { readonly position?: unknown }[]): GlobalPosition {
  return parsePosition(typeof row?.position === 'string' ? row.position : '') ?? ORIGIN;
}

/**
 * Whether the server refused only this statement: its tables are behind, or the statement conflicted with replication.
 */
function isStatementRefused(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !/^(08|53|57P)/.test(code);
}

/** Parses a signal of `publish`. @returns an empty list for any other payload */
function parsePositions(payload: string): readonly (readonly [string, GlobalPosition])[] {
  let value: unknown;
  try {
    value = JSON.parse(payload);
  } catch {
    return [];
  }
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown) => {
    const [tenant, at] = Array.isArray(entry) ? (entry as readonly unknown[]) : [];
    const read = typeof at === 'string' ? parsePosition(at) : undefined;
    return typeof tenant === 'string' && read !== undefined ? [[tenant, read] as const] : [];
  });
}
