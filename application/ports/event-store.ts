import type { GlobalPosition, NewEvent, RecordedEvent, StreamRevision } from '../../domain/event.ts';

/** What the writer believes of the stream; required, so that no writer forgets to think of it (rule 3). */
export type Expected = 'any' | 'no_stream' | 'stream_exists' | StreamRevision;

export type AppendResult = {
  /** Revision of the last event of the append. */
  readonly revision: StreamRevision;
  /** Position of the last event of the append. */
  readonly position: GlobalPosition;
  /** True when exactly these event ids were there already: nothing was written, the first outcome is answered. */
  readonly duplicate: boolean;
};

/** Which events to read or follow. Every part that is given must match. */
export type EventFilter = {
  /** Categories of streams, such as `entry`. */
  readonly categories?: readonly string[];
  /** Event types, such as `EntryCreated`. */
  readonly types?: readonly string[];
  /** Tenant of the event's metadata. */
  readonly tenant?: string;
  readonly correlationId?: string;
};

export type ReadStreamOptions = {
  /** First revision read, inclusive. Default: the first (forwards) or last (backwards) event. */
  readonly from?: StreamRevision;
  readonly direction?: 'forwards' | 'backwards';
  /** Most events read. Default: all. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
};

export type ReadAllOptions = {
  /** Exclusive. Default: the origin (forwards) or past the head (backwards). */
  readonly after?: GlobalPosition;
  readonly direction?: 'forwards' | 'backwards';
  /** Most matching events read. Default: all. */
  readonly limit?: number;
  readonly filter?: EventFilter;
  readonly signal?: AbortSignal;
};

export type SubscribeOptions = {
  /** Exclusive. */
  readonly after: GlobalPosition;
  readonly filter?: EventFilter;
  /** Most events an item holds. Default 500. */
  readonly batchSize?: number;
  /** Ends the subscription: the iteration completes without an error. */
  readonly signal: AbortSignal;
};

/**
 * What a subscription yields. `position` is where to resume; it moves over events that the filter leaves out
 * (`checkpoint`). `caught_up` comes once each time the subscription reaches the head after being behind.
 */
export type SubscriptionItem =
  | { readonly kind: 'events'; readonly events: readonly RecordedEvent[]; readonly position: GlobalPosition }
  | { readonly kind: 'checkpoint'; readonly position: GlobalPosition }
  | { readonly kind: 'caught_up'; readonly position: GlobalPosition };

export type StreamInfo = {
  /** `deleted`: soft, may be written again and revisions go on; `tombstoned`: refuses everything for ever. */
  readonly state: 'active' | 'deleted' | 'tombstoned';
  /** Revision of the last event. */
  readonly revision: StreamRevision;
  readonly retention: Retention;
};

/** Which events of a stream stay visible to `readStream`; hidden ones may still appear in `readAll`. */
export type Retention = {
  readonly maxCount?: number;
  readonly maxAgeSeconds?: number;
  /** First revision that stays visible. */
  readonly truncateBefore?: StreamRevision;
};

export type StreamWrite = {
  readonly stream: string;
  readonly events: readonly NewEvent[];
  readonly expected: Expected;
};

export type EventStoreCapabilities = {
  /** `appendMany` is there and is atomic. */
  readonly atomicMultiStream: boolean;
  /** Positions are consecutive integers. */
  readonly gaplessPositions: boolean;
  /** `findEvent` looks into an index. */
  readonly indexedIds: boolean;
};

/**
 * The port of the event store (spec 5, rules 1 to 5). Contract: `test/contract/event-store.ts`.
 * Every method may throw `store_unavailable` (safe to retry).
 */
export type EventStore = {
  /**
   * Appends at least one event, all or none. Idempotent by event id as EventStoreDB is: with a specific expected
   * revision older than the head, if all ids sit exactly there the first outcome is answered (`duplicate`).
   * Events are taken as they are when `append` is called. The signal counts until the append is sent; its reason is thrown.
   * @throws `conflict` (`cause`: stream, expected, actual), `stream_deleted` (tombstoned), `too_large`, `idempotency_corrupted`,
   * `invalid_append` (no events, no JSON, ids that are no UUIDs), `outcome_unknown` (repeat with the same ids)
   */
  append(stream: string, events: readonly NewEvent[], options: { readonly expected: Expected; readonly signal?: AbortSignal }): Promise<AppendResult>;
  /** Events of one stream. A missing or deleted stream is empty. */
  readStream(stream: string, options?: ReadStreamOptions): AsyncIterable<RecordedEvent>;
  readAll(options?: ReadAllOptions): AsyncIterable<RecordedEvent>;
  /** Pull-based; reconnects and resumes by itself; ends only by its signal (or throws on a fault that no retry mends). */
  subscribe(options: SubscribeOptions): AsyncIterable<SubscriptionItem>;
  /** Position of the last event, or the origin. */
  head(): Promise<GlobalPosition>;
  /** The event with this id, wherever it is; undefined when there is none. May read back to the id's time where the store has no index. */
  findEvent(id: string): Promise<RecordedEvent | undefined>;
  streamInfo(stream: string): Promise<StreamInfo | undefined>;
  /** Replaces the stream's retention. @throws `stream_deleted` (tombstoned), `invalid_append` */
  setRetention(stream: string, retention: Retention): Promise<void>;
  /** @throws `conflict`, `stream_deleted` */
  deleteStream(stream: string, options: { readonly expected: Expected; readonly mode: 'soft' | 'tombstone' }): Promise<void>;
  /** Appends to several streams, all or none. Only where `capabilities.atomicMultiStream`. Each stream at most once. */
  appendMany?(writes: readonly StreamWrite[]): Promise<readonly AppendResult[]>;
  readonly capabilities: EventStoreCapabilities;
  close(): Promise<void>;
};
