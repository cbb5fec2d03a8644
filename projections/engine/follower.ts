import { stoppablePause } from '../../application/concurrency/stoppable-pause.ts';
import type { Lease } from '../../application/ports/leases.ts';
import { isTransient, reasonOf } from '../../application/ports/transient-errors.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import { type GlobalPosition, ORIGIN, type RecordedEvent } from '../../domain/event.ts';
import { UnhandledEvent, createBatchCommits } from './batch-commits.ts';
import { type Batch, openBatches } from './batches.ts';
import { markStopped, moveCheckpoint, takeCheckpoint } from './checkpoints.ts';
import type { Follower, FollowerOptions, FollowerStatus } from './follower-options.ts';
import { positionsOf, readParked } from './parked-streams.ts';

export type { BatchHandler, Follower, FollowerOptions, FollowerStatus, FollowerStop } from './follower-options.ts';

/** The tables of the follower have been replaced by those of another version. */
class Replaced extends Error {}

/**
 * Follows the log under a lease, from its checkpoint, until it is stopped. Transient errors and lost leases are retried
 * with growing pauses.
 */
export function startFollower(options: FollowerOptions): Follower {
  const { name, eventStore, leases, database, handler, logger, metrics, parking } = options;
  const filter = options.filter ?? {};
  const maxBatch = options.maxBatch ?? 2_000;
  const persistEveryMs = options.persistEveryMs ?? 1_000;
  const onFailure = options.onFailure ?? (handler.kind === 'inside' ? 'stop' : 'retry');
  const stopping = new AbortController();
  const pause = stoppablePause(stopping.signal);
  const transaction = { synchronousCommit: false, idleTimeoutMs: leases.ttlMs, workClass: 'unlimited' } as const;

  let status: FollowerStatus = { name, state: 'waiting', position: ORIGIN };
  let failures = 0;
  let failingSince: number | undefined;
  /** The oldest event of the batch that is being applied or has failed. */
  let unapplied: RecordedEvent | undefined;

  function succeeded(): void {
    failures = 0;
    failingSince = undefined;
    unapplied = undefined;
    metrics?.followerRetries?.(name, false);
  }

  function left(): void {
    metrics?.followerLeft?.(name);
    metrics?.followerRetries?.(name, false);
  }

  /** The lag grows while the follower retries, also when it cannot read the events that it lags behind. */
  function reportRetry(): void {
    failingSince ??= Date.now();
    metrics?.lag(name, unapplied ? secondsSince(unapplied) : (Date.now() - failingSince) / 1_000);
    metrics?.followerRetries?.(name, true);
  }

  function moved(position: GlobalPosition, how: 'moved' | 'restarted', applied: boolean): void {
    status = { ...status, position };
    options.onMove?.(position, how, applied);
  }

  const commits = createBatchCommits({
    ...options,
    onFailure,
    transaction,
    onPart(position) {
      moved(position, 'moved', true);
    },
    onStep(position, next) {
      succeeded();
      unapplied = next;
      moved(position, 'moved', true);
    },
  });

  async function takeOver(epoch: number): Promise<GlobalPosition> {
    const start = options.startAt === 'head' ? await eventStore.head() : ORIGIN;
    return database.transaction(
      async (tx) => {
        const position = await takeCheckpoint(tx, { name, epoch, start });
        if (parking) commits.setParked(positionsOf(await readParked(tx, name)));
        if (options.isCurrent && !(await options.isCurrent(tx))) throw new Replaced();
        return position;
      },
      { idleTimeoutMs: leases.ttlMs, workClass: 'unlimited' },
    );
  }

  async function followUnderLease(lease: Lease): Promise<void> {
    const { epoch } = lease;
    const signal = AbortSignal.any([stopping.signal, lease.signal]);
    let saved = await takeOver(epoch);
    status = { ...status, epoch, state: 'catching_up' };
    moved(saved, 'restarted', true);
    let position = saved;
    let saveAt = Infinity;

    async function saveCheckpoint(): Promise<void> {
      saveAt = Infinity;
      if (position === saved) return;
      await database.transaction((tx) => moveCheckpoint(tx, { name, epoch, from: saved, to: position }), transaction);
      saved = position;
    }

    async function apply({ events, position: to, caughtUp }: Batch): Promise<void> {
      if (events.length > 0) {
        const began = performance.now();
        unapplied = events[0];
        const ended = options.tracing?.startBatch(name, events);
        try {
          await commits.commit(events, { lease, from: saved, to, signal });
        } catch (error) {
          ended?.(error instanceof Error ? error.name : 'error');
          throw error;
        }
        ended?.();
        saved = to;
        succeeded();
        metrics?.followerStopped?.(name, false);
        metrics?.batchApplied(name, events.length, (performance.now() - began) / 1_000);
      } else if (to !== saved && saveAt === Infinity) {
        saveAt = performance.now() + persistEveryMs;
      }
      position = to;
      if (caughtUp) succeeded();
      if (caughtUp || events.length > 0) metrics?.lag(name, caughtUp ? 0 : secondsSince(events.at(-1)));
      status = { ...status, state: caughtUp ? 'live' : 'catching_up' };
      if (to !== status.position) moved(to, 'moved', events.length > 0);
    }

    const batches = openBatches({
      eventStore,
      after: saved,
      filter,
      maxEvents: maxBatch,
      maxBytes: options.maxBatchBytes,
      signal,
      tableOf: options.tableOf,
    });
    try {
      for (;;) {
        const batch = await batches.next(saveAt === Infinity ? undefined : Math.max(saveAt - performance.now(), 0));
        if (batch === 'ended') break;
        if (batch !== 'idle') await apply(batch);
        if (performance.now() >= saveAt) await saveCheckpoint();
      }
      if (!lease.signal.aborted) await saveCheckpoint();
    } catch (error) {
      if (error instanceof UnhandledEvent)
        await markStopped(database, { name, epoch, at: error.position, reason: error.message }).catch(() => undefined);
      throw error;
    } finally {
      await batches.close();
    }
    if (!stopping.signal.aborted) throw refusal('lease_lost');
  }

  async function acquireAndFollow(): Promise<void> {
    // After one TTL another process owns the lease; stop reporting lag.
    const leaving = setTimeout(left, leases.ttlMs);
    leaving.unref();
    const lease = await leases.acquire(options.lease ?? name, stopping.signal).finally(() => {
      clearTimeout(leaving);
    });
    try {
      await followUnderLease(lease);
    } finally {
      await lease.release();
    }
  }

  function stopWith(error: unknown): void {
    const stop = {
      reason: reasonOf(error instanceof UnhandledEvent ? error.cause : error),
      position: error instanceof UnhandledEvent ? error.position : status.position,
    };
    status = { name, state: 'stopped', position: status.position, stop };
    logger?.error('a follower stopped', { follower: name, ...stop });
    metrics?.followerStopped?.(name, true);
    options.onStop?.(stop);
  }

  const isStopping = (): boolean => stopping.signal.aborted;

  async function run(): Promise<void> {
    while (!isStopping()) {
      try {
        await acquireAndFollow();
      } catch (error) {
        if (isStopping()) break;
        if (error instanceof Replaced) {
          status = { name, state: 'replaced', position: status.position };
          left();
          return;
        }
        const lost = hasCode(error, 'lease_lost');
        if (!lost && !isTransient(error) && (error instanceof UnhandledEvent || onFailure === 'stop')) {
          stopWith(error);
          return;
        }
        status = { name, state: lost ? 'waiting' : 'retrying', position: status.position };
        if (lost) left();
        else reportRetry();
        logger?.warn(lost ? 'a lease was lost' : 'a follower retries after an error', {
          follower: name,
          reason: reasonOf(error),
          failures,
        });
        await pause(Math.min(50 * 2 ** failures, 10_000));
        failures += 1;
      }
    }
    status = { name, state: 'ended', position: status.position };
    left();
  }

  const running = run();
  return {
    status: () => status,
    ended: running,
    async stop() {
      stopping.abort(new Error('the follower was stopped'));
      await running;
    },
  };
}

function secondsSince(event: RecordedEvent | undefined): number {
  return event ? Math.max(0, (Date.now() - Date.parse(event.recorded_at)) / 1_000) : 0;
}
