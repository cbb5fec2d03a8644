import type { AllStreamRecordedEvent, Position, RecordedEvent as StoredEvent } from '@eventstore/db-client';
import {
  type EventMetadata,
  type GlobalPosition,
  ORIGIN,
  type RecordedEvent,
  type StreamRevision,
  positionFrom,
} from '../../../domain/event.ts';
import type { JsonObject } from '../../../domain/json.ts';

/** An event as the client returns it, from a stream or from the whole log. */
export type Stored = StoredEvent | AllStreamRecordedEvent;

/** Converts a revision to a number. @throws RangeError when it exceeds the safe integers */
export function revisionOf(revision: bigint): StreamRevision {
  const number = Number(revision);
  if (!Number.isSafeInteger(number)) throw new RangeError('the revision exceeds the largest safe integer');
  return number;
}

/** The position of an event in the log: its commit position. */
export function positionOf(event: Stored, commitPosition?: bigint): GlobalPosition {
  const commit = event.position?.commit ?? commitPosition;
  if (commit === undefined) throw new RangeError('an event without a position: the server is older than 22.6');
  return positionFrom(commit);
}

/** The client's start position for reading after a position. */
export function startAfter(position: GlobalPosition): Position | 'start' {
  return position === ORIGIN ? 'start' : { commit: BigInt(position), prepare: BigInt(position) };
}

/**
 * Converts an event of the client. @returns undefined for system events, events of system streams and events of other
 * programs; the head, reads and subscriptions exclude the same events
 */
export function recordedEvent(event: Stored, commitPosition?: bigint): RecordedEvent | undefined {
  const { streamId: stream, type, id, revision, data, metadata, created, isJson } = event;
  if (type.startsWith('$') || stream.startsWith('$') || !isJson || !isObject(data) || !isMetadata(metadata))
    return undefined;
  return {
    id,
    type,
    data,
    metadata,
    stream,
    revision: revisionOf(revision),
    position: positionOf(event, commitPosition),
    recorded_at: created.toISOString(),
  };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isMetadata(value: unknown): value is EventMetadata {
  return isObject(value) && typeof value['tenant'] === 'string' && typeof value['$correlationId'] === 'string';
}
