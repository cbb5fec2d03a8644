import type { Expected, Guards, Retention, StreamWrite } from '../../application/ports/event-store.ts';
import { refusal } from '../../domain/errors.ts';
import { categoryOf } from '../../domain/stream.ts';

/** A new event as JSON text, with the values that the store indexes. */
export type EncodedEvent = {
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
  readonly tenant: string;
  readonly correlationId: string;
};

/** A validated append: no part of it can fail because of its form. */
export type EncodedAppend = {
  readonly stream: string;
  readonly category: string;
  readonly expected: Expected;
  readonly events: readonly EncodedEvent[];
  readonly guards: Guards | undefined;
  /** UTF-8 bytes of all data and metadata. */
  readonly bytes: number;
};

/** Maximum bytes of data and metadata in one append: the largest limit that EventStoreDB can be configured with. */
const MAX_APPEND_BYTES = 16 * 1024 * 1024;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
// Names do not start with `$`, which EventStoreDB reserves, and contain no control characters.
const NAME = /^[^$\u0000-\u001f\u007f][^\u0000-\u001f\u007f]{0,254}$/u;
const LONE_SURROGATE = /\p{Surrogate}/u;
const MAX_DEPTH = 200;

/**
 * Validates an append and encodes its events as JSON text, so that no adapter receives a value that JSON cannot
 * represent.
 * @throws `invalid_append`, `too_large`
 */
export function encodeAppend({ stream, events, expected, guards }: StreamWrite): EncodedAppend {
  checkName(stream, 'stream');
  checkExpected(expected);
  if (guards) checkGuards(guards);
  if (events.length === 0) throw invalid('an append must contain at least one event');
  let bytes = 0;
  const encoded = events.map((event) => {
    const { id, type, data, metadata } = event;
    if (!isEventId(id)) throw invalid('an event id is a lower-case UUID');
    checkName(type, 'type');
    const result = {
      id,
      type,
      data: encodeObject(data),
      metadata: encodeObject(metadata),
      tenant: text(metadata.tenant),
      correlationId: text(metadata.$correlationId),
    };
    bytes += Buffer.byteLength(result.data) + Buffer.byteLength(result.metadata);
    if (bytes > MAX_APPEND_BYTES) throw refusal('too_large');
    return result;
  });
  return { stream, category: categoryOf(stream), expected, events: encoded, guards, bytes };
}

/**
 * Validates and encodes the appends of an atomic group.
 * @throws `invalid_append` when the group is empty or names a stream twice, and as `encodeAppend`
 */
export function encodeAppends(writes: readonly StreamWrite[]): readonly EncodedAppend[] {
  if (writes.length === 0 || new Set(writes.map(({ stream }) => stream)).size < writes.length)
    throw refusal('invalid_append', { message: 'each stream is named once' });
  return writes.map(encodeAppend);
}

/** Whether a text has the form of an event id: a lower-case UUID. */
export function isEventId(text: string): boolean {
  return UUID.test(text);
}

/** @throws `invalid_append` unless it is a keyword of the port or a revision */
export function checkExpected(expected: Expected): void {
  if (typeof expected === 'string' || isRevision(expected)) return;
  throw invalid('an expected revision is a non-negative integer');
}

/** @throws `invalid_append` unless the limits are positive integers (a revision may be 0) */
export function checkRetention({ maxCount, maxAgeSeconds, truncateBefore }: Retention): void {
  for (const limit of [maxCount, maxAgeSeconds]) {
    if (limit !== undefined && !(isRevision(limit) && limit > 0))
      throw invalid('a limit of retention is a positive integer');
  }
  if (truncateBefore !== undefined && !isRevision(truncateBefore)) throw invalid('truncateBefore is a revision');
}

/** Guards are sent as joined texts, so none may contain a control character. */
function checkGuards({ streams = [], unmentioned, taken = [], released = [] }: Guards): void {
  for (const { stream, notEndingWith, endingWith } of streams) {
    checkName(stream, 'stream');
    checkName(notEndingWith, 'type');
    if (endingWith) for (const part of [endingWith.member, endingWith.value]) checkName(part, 'member');
  }
  if (unmentioned) for (const part of [unmentioned.category, unmentioned.text]) checkName(part, 'text');
  for (const { tenant, scope } of [...taken, ...released]) for (const part of [tenant, scope]) checkName(part, 'claim');
}

function isRevision(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function checkName(name: string, what: string): void {
  if (!NAME.test(name) || LONE_SURROGATE.test(name))
    throw invalid(`a ${what} is named with 1 to 255 printable characters, no $ first`);
}

function text(value: unknown): string {
  if (typeof value !== 'string' || value.length > 255 || !isPrintable(value))
    throw invalid('tenant and correlation id are printable text of at most 255 characters');
  return value;
}

function isPrintable(value: string): boolean {
  return (
    value === '' || (NAME.test(value.startsWith('$') ? ` ${value.slice(1)}` : value) && !LONE_SURROGATE.test(value))
  );
}

/** Encodes a plain object as JSON text. @throws `invalid_append` when decoding would not return an equal value */
function encodeObject(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid('data and metadata are JSON objects');
  let json: string;
  try {
    // JSON.stringify runs first because it throws on cycles, on which `checkJson` would not terminate.
    json = JSON.stringify(value);
  } catch (cause) {
    throw refusal('invalid_append', { message: 'data and metadata are JSON', cause });
  }
  checkJson(value, 0);
  return json;
}

function checkJson(value: unknown, depth: number): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return;
  if (typeof value === 'number' && Number.isFinite(value)) return;
  if (typeof value !== 'object' || depth > MAX_DEPTH)
    throw invalid('data and metadata are JSON, nested at most 200 deep');
  if (Array.isArray(value)) {
    for (const item of value) checkJson(item, depth + 1);
    return;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    throw invalid('data and metadata must contain plain objects only');
  for (const member of Object.values(value)) checkJson(member, depth + 1);
}

function invalid(message: string) {
  return refusal('invalid_append', { message });
}
