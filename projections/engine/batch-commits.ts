import type { Lease } from '../../application/ports/leases.ts';
import { isServerLimit, isTransient, reasonOf } from '../../application/ports/transient-errors.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import type { GlobalPosition, RecordedEvent } from '../../domain/event.ts';
import type { TransactionOptions } from '../../infrastructure/postgres/statement-limits.ts';
import { applyOrPark } from './apply-or-park.ts';
import { type CheckpointMove, moveCheckpoint } from './checkpoints.ts';
import { type BatchHandler, type FollowerOptions, MAX_PARKED } from './follower-options.ts';
import { isOfOneStream, parkStream, waitsForParkedStream } from './parked-streams.ts';
import { isBetweenAppends } from './whole-appends.ts';

/** What a batch is applied under: its lease, and the move of the checkpoint. */
export type Commit = {
  readonly lease: Lease;
  readonly from: GlobalPosition;
  readonly to: GlobalPosition;
  readonly signal: AbortSignal;
};

/** An event that the handler cannot apply. It is never skipped. */
export class UnhandledEvent extends Error {
  readonly position: GlobalPosition;
  constructor(position: GlobalPosition, cause: unknown) {
    super(reasonOf(cause), { cause });
    this.position = position;
  }
}

/** Applies the batches of a follower and moves its checkpoint. */
export type BatchCommits = {
  /** Sets the parked streams, when the checkpoint was taken over. */
  setParked(streams: Map<string, GlobalPosition>): void;
  /**
   * Applies one batch and moves the checkpoint. A batch that fails is halved between appends until the append that
   * causes the failure is alone.
   * @throws UnhandledEvent for an append that the handler cannot apply; `lease_lost`
   */
  commit(events: readonly RecordedEvent[], under: Commit): Promise<void>;
};

export type BatchCommitsOptions = Pick<FollowerOptions, 'name' | 'database' | 'handler' | 'logger' | 'parking'> & {
  readonly onFailure: NonNullable<FollowerOptions['onFailure']>;
  /** How the transactions that move the checkpoint run. */
  readonly transaction: TransactionOptions;
  /** Called when the checkpoint was moved to a position within the batch. */
  readonly onPart: (position: GlobalPosition) => void;
  /** Called when a step succeeded. `next`: the first event of the next step. */
  readonly onStep: (position: GlobalPosition, next: RecordedEvent | undefined) => void;
};

export function createBatchCommits({
  name,
  database,
  handler,
  logger,
  parking,
  onFailure,
  transaction,
  onPart,
  onStep,
}: BatchCommitsOptions): BatchCommits {
  let parked = new Map<string, GlobalPosition>();
  let parkedTimes: readonly number[] = [];

  /** Counts the streams that are parked without an applied batch in between. */
  function isSystemic(): boolean {
    const now = performance.now();
    parkedTimes = [...parkedTimes.filter((time) => now - time < 60_000), now];
    return parkedTimes.length > MAX_PARKED;
  }

  /** Applies the events of one append in one transaction, except for those of streams that it parks. */
  async function applyAppend(
    events: readonly RecordedEvent[],
    move: CheckpointMove,
    {
      projection,
      inside,
    }: {
      readonly projection: NonNullable<FollowerOptions['parking']>;
      readonly inside: Extract<BatchHandler, { kind: 'inside' }>;
    },
  ): Promise<void> {
    const next = new Map(parked);
    const found: { readonly event: RecordedEvent; readonly reason: string }[] = [];
    await database.transaction(async (tx) => {
      await applyOrPark(
        tx,
        { events, parked: next },
        {
          projection,
          apply: (part) => inside.handle(part, tx),
          async park(event, error) {
            if (isSystemic()) throw new UnhandledEvent(event.position, error);
            const reason = reasonOf(error);
            await parkStream(tx, { projection: name, event, resumeAfter: move.from, reason });
            found.push({ event, reason });
          },
        },
      );
      await moveCheckpoint(tx, move);
    }, transaction);
    parked = next;
    for (const { event, reason } of found) {
      const { stream, revision, position } = event;
      logger?.error('a stream was parked', { follower: name, stream, revision, position, reason });
    }
  }

  async function commit(events: readonly RecordedEvent[], { lease, from, to, signal }: Commit): Promise<void> {
    const { epoch } = lease;
    const move = { name, epoch, from, to };
    const due = parking ? events.filter((event) => !waitsForParkedStream(event, parked, parking)) : events;
    try {
      if (handler.kind === 'inside') {
        await database.transaction(async (tx) => {
          if (due.length > 0) await handler.handle(due, tx);
          await moveCheckpoint(tx, move);
        }, transaction);
        if (due.length > 0) parkedTimes = [];
      } else if (handler.kind === 'steps') {
        await commitInSteps(events, { handler, lease, from, to, signal });
      } else {
        await handler.handle(events, signal);
        await database.transaction((tx) => moveCheckpoint(tx, move), transaction);
      }
    } catch (error) {
      // A single append is halved only when the server has no room for it, such as locks.
      const half = middleOf(events) ?? (isServerLimit(error) ? Math.floor(events.length / 2) : 0);
      const halving = isServerLimit(error) && half > 0;
      if (hasCode(error, 'lease_lost') || (isTransient(error) && !halving) || onFailure === 'retry') throw error;
      // A later holder may have applied these events; then the handler fails on the rows of that holder.
      if (signal.aborted || !(await lease.isHeld())) throw refusal('lease_lost');
      if (half === 0) {
        if (!parking || handler.kind !== 'inside' || due.length === 0 || !isOfOneStream(error))
          throw new UnhandledEvent(events[0]?.position ?? to, error);
        await applyAppend(due, move, { projection: parking, inside: handler });
        return;
      }
      const middle = events[half - 1]?.position ?? from;
      await commit(events.slice(0, half), { lease, from, to: middle, signal });
      onPart(middle);
      await commit(events.slice(half), { lease, from: middle, to, signal });
    }
  }

  /** Moves the checkpoint after each step. */
  async function commitInSteps(
    events: readonly RecordedEvent[],
    { handler, lease, from, to, signal }: Commit & { readonly handler: Extract<BatchHandler, { kind: 'steps' }> },
  ): Promise<void> {
    let at = from;
    for (let handled = 0; handled < events.length;) {
      handled += await handler.handle(events.slice(handled), { signal, lease });
      const next = handled < events.length ? (events[handled - 1]?.position ?? at) : to;
      const move = { name, epoch: lease.epoch, from: at, to: next };
      await database.transaction((tx) => moveCheckpoint(tx, move), transaction);
      at = next;
      if (handled === events.length) return;
      onStep(at, events[handled]);
    }
  }

  return {
    setParked(streams) {
      parked = streams;
    },
    commit,
  };
}

/** The index nearest to the middle of the events where an append ends; undefined when they are one append. */
function middleOf(events: readonly RecordedEvent[]): number | undefined {
  const half = Math.floor(events.length / 2);
  for (let distance = 0; distance <= half; distance += 1) {
    for (const index of [half - distance, half + distance])
      if (index > 0 && index < events.length && isBetweenAppends(events, index)) return index;
  }
  return undefined;
}
