import type { JsonObject } from './json.ts';

/** Zero-based index of an event in its stream. An entry's `version` is its revision plus one. */
export type StreamRevision = number;

declare const positionBrand: unique symbol;
/**
 * Place of an event in the global log: an opaque string of 20 zero-padded digits. Compare positions with `<` and `>`
 * only. Positions may have gaps.
 */
export type GlobalPosition = string & { readonly [positionBrand]: true };

/** The position before the first event. */
export const ORIGIN = '00000000000000000000' as GlobalPosition;

const POSITION = /^\d{20}$/;

/** Parses a position. @returns undefined for text that is not a position */
export function parsePosition(text: string): GlobalPosition | undefined {
  return POSITION.test(text) ? (text as GlobalPosition) : undefined;
}

/** Makes a position from a non-negative integer. For adapters of the event store only. */
export function positionFrom(value: bigint | number): GlobalPosition {
  return value.toString().padStart(20, '0') as GlobalPosition;
}

/** The later of two positions. */
export function laterOf(a: GlobalPosition, b: GlobalPosition): GlobalPosition {
  return a > b ? a : b;
}

/** The principal that caused an event. Ids contain no personal data. */
export type Actor = {
  readonly kind: 'user' | 'api_key' | 'admin_token' | 'external' | 'system' | 'anonymous';
  readonly id: string;
};

/** Whether two events have the same actor. */
export function isSameActor(a: Actor, b: Actor): boolean {
  return a.kind === b.kind && a.id === b.id;
}

/** Metadata of an event. It contains no personal data. */
export type EventMetadata = {
  readonly tenant: string;
  readonly actor: Actor;
  readonly $correlationId: string;
  readonly $causationId: string;
  /** W3C `traceparent` of the append; absent without tracing. */
  readonly $traceparent?: string;
  /** When the command ran. RFC 3339, UTC, milliseconds. */
  readonly occurred_at: string;
  /** Version of the schema of `data` for this `type`, from 1. */
  readonly schema_version: number;
};

/** An event as a decider returns it. The type is in the past tense; the data holds what changed. */
export type DomainEvent<Type extends string = string, Data extends JsonObject = JsonObject> = {
  readonly type: Type;
  readonly data: Data;
};

/** The data of one type of a union of events. */
export type EventData<Event extends DomainEvent, Type extends Event['type']> = Extract<
  Event,
  { readonly type: Type }
>['data'];

/** An event to append. The store appends an id only once, so an append can be repeated safely. */
export type NewEvent = {
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: EventMetadata;
};

/** An event in the store. */
export type RecordedEvent = NewEvent & {
  readonly stream: string;
  readonly revision: StreamRevision;
  readonly position: GlobalPosition;
  /** When the store appended it. RFC 3339, UTC, milliseconds. */
  readonly recorded_at: string;
  /**
   * Position of the last event that was appended together with this one, all or none. Absent for the last one, and in a
   * store that does not keep it.
   */
  readonly append_end?: GlobalPosition;
};
