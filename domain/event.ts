import type { JsonObject } from './json.ts';

/** Zero-based index of an event in its stream. An entry's `version` is its revision plus one. */
export type StreamRevision = number;

declare const positionBrand: unique symbol;
/**
 * Place of an event in the order of the whole log: an opaque string of 20 zero-padded digits,
 * to be compared with `<` and `>` only. Positions are not promised to be contiguous.
 */
export type GlobalPosition = string & { readonly [positionBrand]: true };

/** The position before every event. */
export const ORIGIN = '00000000000000000000' as GlobalPosition;

const POSITION = /^\d{20}$/;

/** Reads a position out of text. @returns undefined when it is none. */
export function parsePosition(text: string): GlobalPosition | undefined {
  return POSITION.test(text) ? (text as GlobalPosition) : undefined;
}

/** Makes a position of a non-negative integer. For adapters of the event store only. */
export function positionFrom(value: bigint | number): GlobalPosition {
  return value.toString().padStart(20, '0') as GlobalPosition;
}

/** The later of two positions. */
export function laterOf(a: GlobalPosition, b: GlobalPosition): GlobalPosition {
  return a > b ? a : b;
}

/** Who did it. `kind` is open for later kinds of credentials; ids never hold personal data. */
export type Actor = {
  readonly kind: 'user' | 'api_key' | 'admin_token' | 'external' | 'system' | 'anonymous';
  readonly id: string;
};

/** What is known of every event beside its data (spec 5, rule 2). Holds no personal data. */
export type EventMetadata = {
  readonly tenant: string;
  readonly actor: Actor;
  readonly $correlationId: string;
  readonly $causationId: string;
  /** W3C Trace Context of the append, where traces were asked for. */
  readonly $traceparent?: string;
  /** RFC 3339, UTC, milliseconds. */
  readonly occurred_at: string;
  /** Version of the shape of `data` for this `type`, from 1. */
  readonly schema_version: number;
};

/** A fact a decider returns: a past-tense type and what changed. */
export type DomainEvent<Type extends string = string, Data extends JsonObject = JsonObject> = {
  readonly type: Type;
  readonly data: Data;
};

/** A fact on its way to the store. The id makes a repeated append harmless. */
export type NewEvent = {
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: EventMetadata;
};

/** A fact in the store. */
export type RecordedEvent = NewEvent & {
  readonly stream: string;
  readonly revision: StreamRevision;
  readonly position: GlobalPosition;
  /** When the store took it. RFC 3339, UTC, milliseconds. */
  readonly recorded_at: string;
};
