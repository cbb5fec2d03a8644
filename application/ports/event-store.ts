import type { GlobalPosition, NewEvent, RecordedEvent, StreamRevision } from '../../domain/event.ts';

/** The state of the stream that the writer expects. Required, so that each writer decides explicitly. */
export type Expected = 'any' | 'no_stream' | 'stream_exists' | StreamRevision;

export type AppendResult = {
  /** Revision of the last event of the append. */
  readonly revision: StreamRevision;
  /** Position of the last event of the append. */
  readonly position: GlobalPosition;
  /**
   * True when exactly these event ids were already in the stream: nothing was written, and the result is that of the
   * first append.
   */
  readonly duplicate: boolean;
};

/** Selects events. An event must match every part that is present. */
export type EventFilter = {
  /** Categories of streams, such as `entry`. */
  readonly categories?: readonly string[];
  /** Event types, such as `EntryCreated`. */
  readonly types?: readonly string[];
  /** Tenant in the event's metadata. */
  readonly tenant?: string;
  readonly correlationId?: string;
  /** Id of the actor in the event's metadata, of any kind of actor. */
  readonly actor?: string;
};

export type ReadStreamOptions = {
  /** First revision to read, inclusive. Default: the first event (forwards) or the last event (backwards). */
  readonly from?: StreamRevision;
  readonly direction?: 'forwards' | 'backwards';
  /** Maximum number of events. Default: all. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
};

export type ReadAllOptions = {
  /** Exclusive. Default: the origin (forwards) or after the head (backwards). */
  readonly after?: GlobalPosition;
  readonly direction?: 'forwards' | 'backwards';
  /** Maximum number of matching events. Default: all. */
  readonly limit?: number;
  readonly filter?: EventFilter;
  readonly signal?: AbortSignal;
};

export type SubscribeOptions = {
  /** Exclusive. */
  readonly after: GlobalPosition;
  readonly filter?: EventFilter;
  /** Maximum number of events in an item. Default 500. */
  readonly batchSize?: number;
  /** Ends the subscription: the iteration completes without an error. */
  readonly signal: AbortSignal;
};

/**
 * An item of a subscription. `position` is where to resume. `checkpoint` advances the position over events that the
 * filter excludes. `caught_up` is yielded each time the subscription reaches the head after having been behind.
 */
export type SubscriptionItem =
  | {
      readonly kind: 'events';
      readonly events: readonly RecordedEvent[];
      /** Approximate size of the events in memory. Items are bounded in bytes, except for a single large event. */
      readonly bytes: number;
      readonly position: GlobalPosition;
    }
  | { readonly kind: 'checkpoint'; readonly position: GlobalPosition }
  | { readonly kind: 'caught_up'; readonly position: GlobalPosition };

export type StreamInfo = {
  /**
   * `deleted`: soft deleted; may be written again, and revisions continue. `tombstoned`: permanently refuses every
   * write.
   */
  readonly state: 'active' | 'deleted' | 'tombstoned';
  /** Revision of the last event. */
  readonly revision: StreamRevision;
  readonly retention: Retention;
};

/** The events of a stream that `readStream` returns; the others may still appear in `readAll`. */
export type Retention = {
  readonly maxCount?: number;
  readonly maxAgeSeconds?: number;
  /** First visible revision. */
  readonly truncateBefore?: StreamRevision;
};

/** A unique value as `operational.claims` identifies it; see `Claims.keysOf`. */
export type ClaimKey = {
  readonly tenant: string;
  readonly scope: string;
  /** Hexadecimal HMAC of the value. */
  readonly digest: string;
};

/** The stream must exist and must not end with an event of the type `notEndingWith`. */
export type StreamGuard = {
  readonly stream: string;
  readonly notEndingWith: string;
  /**
   * The data of the last event must have this value in this member. When the last events of many streams are too large
   * to compare, the guard fails.
   */
  readonly endingWith?: { readonly member: string; readonly value: string } | undefined;
};

/**
 * Conditions that an append checks, and unique values that it takes and releases, together with its events: all in one
 * step, so that no other append comes between. A repeated append is not checked again.
 */
export type Guards = {
  readonly streams?: readonly StreamGuard[] | undefined;
  /**
   * No event of other streams of the tenant and category after the position contains the text. When too many events
   * follow the position, the guard fails without a search.
   */
  readonly unmentioned?: {
    readonly tenant: string;
    readonly category: string;
    readonly text: string;
    readonly after: GlobalPosition;
  };
  /** Values that the stream takes. None may have another owner. */
  readonly taken?: readonly ClaimKey[] | undefined;
  /** Values that the stream releases. */
  readonly released?: readonly ClaimKey[] | undefined;
};

/** The guard that failed; the `cause` of the refusal `guard_failed`. */
export type GuardFailure =
  /** A condition of `streams` does not hold. */
  | { readonly guard: 'stream' }
  /** `position`: of the last event that contains the text, or of the head when the guard was not searched. */
  | { readonly guard: 'unmentioned'; readonly position: GlobalPosition }
  /** A value of `taken` has another owner. */
  | { readonly guard: 'taken' };

export type StreamWrite = {
  readonly stream: string;
  readonly events: readonly NewEvent[];
  readonly expected: Expected;
  /** Only with `capabilities.guards`. */
  readonly guards?: Guards | undefined;
};

export type EventStoreCapabilities = {
  /** `appendMany` exists and is atomic. */
  readonly atomicMultiStream: boolean;
  /** Positions are consecutive integers. */
  readonly gaplessPositions: boolean;
  /** `findEvent` uses an index. */
  readonly indexedIds: boolean;
  /** Appends take guards. Without it a command looks at the other streams again after its append. */
  readonly guards: boolean;
};

/**
 * The port of the event store. Contract: `test/contract/event-store.ts`. Every method may throw `store_unavailable`
 * (safe to retry).
 */
export type EventStore = {
  /**
   * Appends one or more events, all or none. Idempotent by event id: when `expected` is a revision before the head and
   * exactly these ids follow it, the result of the first append is returned (`duplicate`). Events are copied when
   * `append` is called. The signal has an effect until the append is sent; then its reason is thrown.
   * @throws `conflict` (`cause`: stream, expected, actual), `guard_failed` (`cause`: GuardFailure), `stream_deleted`
   *   (tombstoned), `too_large`, `idempotency_corrupted`, `invalid_append` (no events, data that is not JSON, ids that
   *   are not UUIDs), `outcome_unknown` (repeat with the same ids)
   */
  append(
    stream: string,
    events: readonly NewEvent[],
    options: {
      readonly expected: Expected;
      /** Only with `capabilities.guards`. */
      readonly guards?: Guards | undefined;
      readonly signal?: AbortSignal;
    },
  ): Promise<AppendResult>;
  /** Reads the events of one stream. A missing or deleted stream is empty. */
  readStream(stream: string, options?: ReadStreamOptions): AsyncIterable<RecordedEvent>;
  readAll(options?: ReadAllOptions): AsyncIterable<RecordedEvent>;
  /**
   * Follows the log from a position. Reads only as fast as the caller iterates. Reconnects and resumes after transient
   * errors; ends when the signal aborts, and throws on a permanent error.
   */
  subscribe(options: SubscribeOptions): AsyncIterable<SubscriptionItem>;
  /** The position of the last event; the origin when the log is empty. */
  head(): Promise<GlobalPosition>;
  /**
   * Finds an event by id. Without an index it may read the log back to the time encoded in the id.
   * @returns undefined when none exists
   */
  findEvent(id: string): Promise<RecordedEvent | undefined>;
  streamInfo(stream: string): Promise<StreamInfo | undefined>;
  /** Replaces the retention of the stream. @throws `stream_deleted` (tombstoned), `invalid_append` */
  setRetention(stream: string, retention: Retention): Promise<void>;
  /** @throws `conflict`, `stream_deleted` */
  deleteStream(
    stream: string,
    options: { readonly expected: Expected; readonly mode: 'soft' | 'tombstone' },
  ): Promise<void>;
  /**
   * Appends to several streams, all or none. Each stream may occur once. Present only when
   * `capabilities.atomicMultiStream` is true. Guards are checked against the log before the first of the writes.
   */
  appendMany?(writes: readonly StreamWrite[]): Promise<readonly AppendResult[]>;
  readonly capabilities: EventStoreCapabilities;
  close(): Promise<void>;
};
