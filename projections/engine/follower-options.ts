import type { GlobalPosition, RecordedEvent } from '../../domain/event.ts';
import type { Database, Transaction } from '../../infrastructure/postgres/database.ts';
import type { EventSource, FollowerLogger, FollowerMetrics, FollowerTracing, LeaseSource, SourceFilter } from './collaborators.ts';

/**
 * What is done with a batch. `inside`: in the transaction that moves the checkpoint, so its effects are exactly once.
 * `before`: before the checkpoint moves, so its effects are at least once, and in order.
 */
export type BatchHandler =
  | { readonly kind: 'inside'; handle(events: readonly RecordedEvent[], tx: Transaction): Promise<void> }
  | { readonly kind: 'before'; handle(events: readonly RecordedEvent[], signal: AbortSignal): Promise<void> };

export type FollowerOptions = {
  /** Name of the checkpoint, such as `projection/content/3`, `worker/webhooks`, `relay`. */
  readonly name: string;
  /** Name of the lease. Default: the checkpoint's. */
  readonly lease?: string;
  readonly source: EventSource;
  readonly filter?: SourceFilter;
  readonly leases: LeaseSource;
  readonly database: Database;
  readonly handler: BatchHandler;
  /** Where a follower without a checkpoint begins. Default `origin`. */
  readonly startAt?: 'origin' | 'head';
  /** What an error of the handler does that is no passing fault. Default: `inside` stops, `before` tries again for ever. */
  readonly onFailure?: 'stop' | 'retry';
  /** Default 2,000. */
  readonly maxBatch?: number;
  /** How often a checkpoint over filtered-out events is written down. Default 1,000. */
  readonly persistEveryMs?: number;
  /** Runs in the transaction that takes the checkpoint over; what it throws stops the follower. */
  readonly guard?: (tx: Transaction) => Promise<void>;
  /** After every move, in memory or written. `restarted` when it was read anew and may lie before what was known. */
  readonly onMove?: (position: GlobalPosition, how: 'moved' | 'restarted', applied: boolean) => void;
  readonly onStop?: (stop: FollowerStop) => void;
  readonly logger?: FollowerLogger;
  readonly metrics?: FollowerMetrics;
  readonly tracing?: FollowerTracing | undefined;
};

/** Why a follower does not go on. `at`: the event it could not handle, or its position. */
export type FollowerStop = { readonly reason: string; readonly at: GlobalPosition };

export type FollowerStatus = {
  readonly name: string;
  /** `waiting`: another process has the lease; `retrying`: after a passing fault; `ended`: told to stop. */
  readonly state: 'waiting' | 'catching_up' | 'live' | 'retrying' | 'stopped' | 'ended';
  readonly position: GlobalPosition;
  readonly epoch?: number;
  readonly stop?: FollowerStop;
};

export type Follower = {
  status(): FollowerStatus;
  /** Finishes the batch in hand, writes the checkpoint down, leaves the lease. */
  stop(): Promise<void>;
};
