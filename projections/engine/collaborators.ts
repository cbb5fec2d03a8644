import type { GlobalPosition, RecordedEvent } from '../../domain/event.ts';

/** What a follower reads: the event store's port has this shape (spec 5, rule 3). */
export type EventSource = {
  /** `after` is exclusive; ends by its signal, or throws on a fault that no retry mends. */
  subscribe(options: {
    readonly after: GlobalPosition;
    readonly filter?: SourceFilter;
    readonly batchSize?: number;
    readonly signal: AbortSignal;
  }): AsyncIterable<SourceItem>;
  head(): Promise<GlobalPosition>;
};

export type SourceFilter = {
  readonly categories?: readonly string[];
  readonly types?: readonly string[];
  readonly tenant?: string;
};

export type SourceItem =
  | { readonly kind: 'events'; readonly events: readonly RecordedEvent[]; readonly position: GlobalPosition }
  | { readonly kind: 'checkpoint'; readonly position: GlobalPosition }
  | { readonly kind: 'caught_up'; readonly position: GlobalPosition };

/** A duty that one process does at a time; `epoch` fences what is written under it. */
export type HeldLease = { readonly epoch: number; readonly signal: AbortSignal; release(): Promise<void> };

export type LeaseSource = {
  acquire(name: string, signal: AbortSignal): Promise<HeldLease>;
  readonly ttlMs: number;
};

/** Lossy wake-ups between processes. */
export type SignalBus = {
  publish(channel: string, payload: string): void;
  subscribe(channel: string, handler: (payload: string) => void): () => void;
};

type Log = (message: string, fields?: Readonly<Record<string, unknown>>) => void;
export type FollowerLogger = { readonly info: Log; readonly warn: Log; readonly error: Log };

export type FollowerMetrics = {
  lag(follower: string, seconds: number): void;
  followerLeft?(follower: string): void;
  batchApplied(follower: string, events: number, seconds: number): void;
  followerStopped?(follower: string, stopped: boolean): void;
};

/** Work on a batch, seen from outside. */
export type FollowerTracing = {
  /** Called where the work begins; the answer where it ends, `failure` saying in a word why it failed. */
  startBatch(follower: string, events: readonly RecordedEvent[]): (failure?: string) => void;
};
