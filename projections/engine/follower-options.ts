import type { EventFilter, EventStore } from '../../application/ports/event-store.ts';
import type { Lease, Leases } from '../../application/ports/leases.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Metrics } from '../../application/ports/metrics.ts';
import type { GlobalPosition, RecordedEvent } from '../../domain/event.ts';
import type { Database, Transaction } from '../../infrastructure/postgres/database.ts';
import type { Projection } from './projection.ts';

/**
 * Handles a batch. `inside`: in the transaction that moves the checkpoint, so that its effects occur exactly once.
 * `before`: before the checkpoint moves, so that its effects occur at least once and in order. `steps`: the same for
 * the first events of a batch, one or more; it returns their number and is called again with the others.
 */
export type BatchHandler =
  | { readonly kind: 'inside'; handle(events: readonly RecordedEvent[], tx: Transaction): Promise<void> }
  | { readonly kind: 'before'; handle(events: readonly RecordedEvent[], signal: AbortSignal): Promise<void> }
  | {
      readonly kind: 'steps';
      handle(
        events: readonly RecordedEvent[],
        context: { readonly signal: AbortSignal; readonly lease: Lease },
      ): Promise<number>;
    };

export type FollowerOptions = {
  /** Name of the checkpoint, such as `projection/content/3`, `worker/webhooks`, `relay`. */
  readonly name: string;
  /** Name of the lease. Default: the name of the checkpoint. */
  readonly lease?: string;
  readonly eventStore: Pick<EventStore, 'head' | 'subscribe'>;
  readonly filter?: EventFilter;
  readonly leases: Leases;
  readonly database: Database;
  readonly handler: BatchHandler;
  /** Where a follower without a checkpoint starts. Default `origin`. */
  readonly startAt?: 'origin' | 'head';
  /**
   * The reaction to a permanent error of the handler. Default: `stop` for `inside`, `retry` (without limit) for the
   * others.
   */
  readonly onFailure?: 'stop' | 'retry';
  /** Default 2,000. */
  readonly maxBatch?: number;
  /** Maximum size of the events of a batch, and of those read ahead, in bytes. Default 8 MiB. */
  readonly maxBatchBytes?: number | undefined;
  /** The table that an event changes; see `Projection.tableOf`. */
  readonly tableOf?: (event: RecordedEvent) => string | undefined;
  /** Interval in milliseconds at which a checkpoint that only passed filtered-out events is saved. Default 1,000. */
  readonly persistEveryMs?: number;
  /**
   * Runs in the transaction that takes over the checkpoint. False: the tables that the handler writes have been
   * replaced, and the follower ends. Default: true.
   */
  readonly isCurrent?: (tx: Transaction) => Promise<boolean>;
  /**
   * Called after every move, saved or not. `restarted`: the position was read from the checkpoint and may be before a
   * known one.
   */
  readonly onMove?: (position: GlobalPosition, how: 'moved' | 'restarted', applied: boolean) => void;
  readonly onStop?: (stop: FollowerStop) => void;
  readonly logger?: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly metrics?: Pick<Metrics, 'lag' | 'followerLeft' | 'batchApplied' | 'followerStopped' | 'followerRetries'>;
  readonly tracing?: FollowerTracing | undefined;
  /**
   * Parks the stream of an event that the handler cannot apply and goes on with the others. Only for `inside`. Default:
   * `onFailure`.
   */
  readonly parking?: Pick<Projection, 'dependsOn'>;
};

/**
 * Maximum number of streams that a follower parks within one minute without an applied batch in between, and that a
 * rebuild parks. Beyond it the fault is taken for one of all streams.
 */
export const MAX_PARKED = 100;

/** Why a follower stopped. `position`: of the event it could not handle, or its own. */
export type FollowerStop = { readonly reason: string; readonly position: GlobalPosition };

export type FollowerStatus = {
  readonly name: string;
  /**
   * `waiting`: another process has the lease. `retrying`: after a transient error. `replaced`: ended because it is not
   * current. `ended`: stopped by this process.
   */
  readonly state: 'waiting' | 'catching_up' | 'live' | 'retrying' | 'stopped' | 'replaced' | 'ended';
  readonly position: GlobalPosition;
  readonly epoch?: number;
  readonly stop?: FollowerStop;
};

export type Follower = {
  status(): FollowerStatus;
  /** Resolves when it has stopped, was replaced or has ended. */
  readonly ended: Promise<void>;
  /** Finishes the current batch, saves the checkpoint and releases the lease. */
  stop(): Promise<void>;
};

/** Tracing of batches. */
export type FollowerTracing = {
  /**
   * Called before a batch is applied. @returns the function to call after it; `failure` names the error if it failed
   */
  startBatch(follower: string, events: readonly RecordedEvent[]): (failure?: string) => void;
};
