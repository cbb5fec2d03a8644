import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';
import type { Logger } from '../../application/ports/logger.ts';
import type { Signals } from '../../application/ports/signals.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { laterOf, ORIGIN, parsePosition } from '../../domain/event.ts';
import type { Database, Queryable } from './database.ts';

export type ReplicaReadsOptions = {
  readonly primary: Queryable;
  /** A pool on the replica, or on several behind one address. */
  readonly replica: Database;
  /** Name of the read model whose checkpoint tells how far a replica is. */
  readonly readModel: string;
  /** How far the read model of the primary is, as far as this process knows. */
  readonly position: () => GlobalPosition;
  readonly signals: Pick<Signals, 'publish' | 'subscribe'>;
  readonly logger: Logger;
  /** Half of the time by which the replica may lag behind for callers of whom nothing else is known. Default 5 s. */
  readonly tickMs?: number;
};

export type ReadOutcome = 'replica' | 'behind' | 'away' | 'refused';

export type ReplicaReads = {
  /** Runs statements on the replica inside `read`, on the primary everywhere else. */
  readonly queryable: Queryable;
  read<T>(reader: { readonly tenant: string; readonly minimum: GlobalPosition | undefined }, work: () => Promise<T>): Promise<T>;
  wrote(tenant: string, position: GlobalPosition | undefined): void;
  /** Whether the replica answers. */
  isAway(): boolean;
  /** Reads since the start, by where they were answered: on the replica, or on the primary because of the replica. */
  outcomes(): Readonly<Record<ReadOutcome, number>>;
  close(): void;
};

/** Statement that did not come to its end on the replica: the read is done again on the primary. */
class NotOnReplica extends Error {
  readonly why: Exclude<ReadOutcome, 'replica'>;
  constructor(why: Exclude<ReadOutcome, 'replica'>, cause?: unknown) {
    super('not answered by the replica', { cause });
    this.why = why;
  }
}

const CHANNEL = 'replica';
/** News of writes go out together. */
const PUBLISH_EVERY_MS = 10;
/** A connection that was behind is not asked again sooner. */
const ASK_AGAIN_MS = 10;
const LOOK_AFTER_MS = 1_000;

const POSITION = `select c.position from operational.projections p
  join operational.checkpoints c on c.name = 'projection/' || p.name || '/' || p.version where p.name = $1`;

/**
 * Decides which reads a replica may answer. It must have reached the latest of: the position that the caller names; the last write in the
 * caller's tenant that this process answered, or heard of from another one; where the primary was one to two ticks ago. The checkpoint of the
 * read model is read on the very connection that then reads the rows, so several replicas behind one address are no danger: rows and
 * checkpoint come to a replica in one transaction, and a server never goes back.
 */
export async function openReplicaReads({ primary, replica, readModel, position, signals, logger, tickMs = 5_000 }: ReplicaReadsOptions): Promise<ReplicaReads> {
  const reading = new AsyncLocalStorage<GlobalPosition>();
  const reached = new WeakMap<pg.PoolClient, { position: GlobalPosition; askedAt: number }>();
  const writes = new Map<string, GlobalPosition>();
  const unsaid = new Map<string, GlobalPosition>();
  const outcomes: Record<ReadOutcome, number> = { replica: 0, behind: 0, away: 0, refused: 0 };
  let away = false;
  let known = laterOf(position(), readPosition(await primary.query(POSITION, [readModel])));
  /** What every read sees at least. A start knows nothing of the writes before it. */
  let floor = known;

  function lost(cause: unknown): void {
    if (away) return;
    away = true;
    logger.warn('the read replica is away; reads go to the primary', { reason: cause instanceof Error ? cause.message : String(cause) });
  }

  function remember(tenant: string, at: GlobalPosition): void {
    if (at > floor) writes.set(tenant, laterOf(at, writes.get(tenant) ?? ORIGIN));
  }

  async function isNewEnough(client: pg.PoolClient, needed: GlobalPosition): Promise<boolean> {
    const before = reached.get(client);
    if (before && (before.position >= needed || performance.now() - before.askedAt < ASK_AGAIN_MS)) return before.position >= needed;
    const { rows } = await client.query<{ position: string }>({ text: POSITION, values: [readModel], name: 'replica-position' });
    const now = readPosition(rows);
    reached.set(client, { position: now, askedAt: performance.now() });
    return now >= needed;
  }

  /** @throws NotOnReplica for whatever goes wrong */
  async function onReplica<T>(needed: GlobalPosition, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    let client: pg.PoolClient | undefined;
    let failure: Error | undefined;
    try {
      client = await replica.pool.connect();
      if (!(await isNewEnough(client, needed))) throw new NotOnReplica('behind');
      return await work(client);
    } catch (error) {
      if (error instanceof NotOnReplica) throw error;
      if (isOfStatement(error)) throw new NotOnReplica('refused', error);
      failure = error instanceof Error ? error : new Error(String(error));
      lost(failure);
      throw new NotOnReplica('away', error);
    } finally {
      client?.release(failure);
    }
  }

  // A connection lost between two statements has no query to reject.
  replica.pool.on('connect', (client) => client.on('error', lost));

  async function look(): Promise<void> {
    try {
      await onReplica(ORIGIN, (client) => client.query('select 1'));
      if (away) logger.info('the read replica is here again');
      away = false;
    } catch {
      // Said already.
    }
  }
  const looking = setInterval(() => void look(), LOOK_AFTER_MS);
  looking.unref();
  async function tick(): Promise<void> {
    floor = known;
    for (const [tenant, at] of writes) if (at <= floor) writes.delete(tenant);
    // Signals of other processes may be lost: the row says it.
    known = laterOf(position(), await primary.query(POSITION, [readModel]).then(readPosition, () => floor));
  }
  const ticking = setInterval(() => void tick(), tickMs);
  ticking.unref();
  void look();

  function publish(): void {
    signals.publish(CHANNEL, JSON.stringify([...unsaid].slice(0, 10)));
    for (const [tenant] of [...unsaid].slice(0, 10)) unsaid.delete(tenant);
    if (unsaid.size > 0) publish();
  }
  const unsubscribe = signals.subscribe(CHANNEL, (payload) => {
    for (const [tenant, at] of readNews(payload)) remember(tenant, at);
  });

  return {
    queryable: {
      async query<Row extends object>(text: string, values?: readonly unknown[], name?: string) {
        const needed = reading.getStore();
        if (needed === undefined) return primary.query<Row>(text, values, name);
        const { rows } = await onReplica(needed, (client) => client.query<Row>({ text, ...(values && { values: [...values] }), ...(name !== undefined && { name }) }));
        return rows;
      },
      execute: (text, values, name) => primary.execute(text, values, name),
    },
    async read({ tenant, minimum = ORIGIN }, work) {
      if (away) {
        outcomes.away += 1;
        return work();
      }
      const needed = laterOf(minimum, laterOf(floor, writes.get(tenant) ?? ORIGIN));
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
      if (at <= (writes.get(tenant) ?? floor)) return;
      remember(tenant, at);
      if (unsaid.size === 0) setTimeout(publish, PUBLISH_EVERY_MS).unref();
      unsaid.set(tenant, laterOf(at, unsaid.get(tenant) ?? ORIGIN));
    },
    isAway: () => away,
    outcomes: () => outcomes,
    close() {
      clearInterval(looking);
      clearInterval(ticking);
      unsubscribe();
    },
  };
}

function readPosition([row]: readonly { readonly position?: unknown }[]): GlobalPosition {
  return parsePosition(typeof row?.position === 'string' ? row.position : '') ?? ORIGIN;
}

/** Whether the server refused the statement and goes on: it is behind in its tables, or gave way to what it replays. */
function isOfStatement(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^(08|53|57P)/.test(code);
}

/** @returns nothing for anything else than what `publish` sends */
function readNews(payload: string): readonly (readonly [string, GlobalPosition])[] {
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
