import { ErrorType, jsonEvent } from '@eventstore/db-client';
import type { Expected, Retention, StreamInfo } from '../../../application/ports/event-store.ts';
import { hasCode, refusal } from '../../../domain/errors.ts';
import type { StreamRevision } from '../../../domain/event.ts';
import { conflict } from '../conflict.ts';
import { checkExpected, checkRetention } from '../encode-append.ts';
import { drain } from './drain.ts';
import { actualOf, failureType, refusalOfRead, refusalOfWrite } from './failures.ts';
import { revisionOf } from './recorded-event.ts';
import type { WriterOptions } from './writer.ts';
import { settled } from './writer.ts';

type Metadata = Readonly<Record<string, unknown>>;

/** What we keep beside `$tb`, which the server sets itself where a deleted stream is written again: what was asked for, and what stays hidden. */
type Kept = { readonly truncateBefore?: number; readonly hiddenBefore?: number };
const KEPT = 'palimpsest';
const TRIES = 5;

/** See `EventStore.streamInfo`. */
export async function streamInfo(options: WriterOptions, stream: string): Promise<StreamInfo | undefined> {
  const found = await lastRevision(options, stream);
  if (found === undefined) return undefined;
  if (found === 'tombstoned') return { state: 'tombstoned', revision: 0, retention: {} };
  const { metadata } = await readMetadata(options, stream);
  return { state: isDeleted(metadata, found) ? 'deleted' : 'active', revision: found, retention: retentionOf(metadata) };
}

/**
 * Replaces the retention; an access list and members of others stay as they are.
 * @throws `stream_deleted` for a deleted stream too: the server keeps its deletion where the retention would be written
 */
export async function setRetention(options: WriterOptions, stream: string, retention: Retention): Promise<void> {
  checkRetention(retention);
  const { connection, timeoutMs } = options;
  const found = await lastRevision(options, stream);
  if (found === 'tombstoned') throw refusal('stream_deleted');
  for (let attempt = 1; ; attempt += 1) {
    const { metadata, revision } = await readMetadata(options, stream);
    if (found !== undefined && isDeleted(metadata, found)) throw refusal('stream_deleted');
    try {
      await settled(
        connection.writer.appendToStream(`$$${stream}`, jsonEvent({ type: '$metadata', data: withRetention(metadata, retention) }), {
          expectedRevision: revision ?? 'no_stream',
          deadline: timeoutMs,
          ...(connection.credentials ? { credentials: connection.credentials } : {}),
        }),
        timeoutMs,
      );
      return;
    } catch (error) {
      const refused = refusalOfWrite(error, stream, 'any');
      if (!hasCode(refused, 'conflict') || attempt === TRIES) throw refused;
    }
  }
}

/** See `EventStore.deleteStream`. */
export async function deleteStream(options: WriterOptions, stream: string, { expected, mode }: { readonly expected: Expected; readonly mode: 'soft' | 'tombstone' }): Promise<void> {
  checkExpected(expected);
  const { connection, timeoutMs } = options;
  const info = await streamInfo(options, stream);
  if (info?.state === 'tombstoned') throw refusal('stream_deleted');
  // The client knows no such expectation for deletions.
  if (expected === 'stream_exists' && info?.state !== 'active') throw conflict({ stream, expected, actual: info?.revision ?? -1 });
  const expectedRevision = typeof expected === 'number' ? BigInt(expected) : expected === 'stream_exists' ? 'any' : expected;
  try {
    const call = mode === 'soft' ? connection.writer.deleteStream(stream, { expectedRevision, deadline: timeoutMs }) : connection.writer.tombstoneStream(stream, { expectedRevision, deadline: timeoutMs });
    await settled(call, timeoutMs);
  } catch (error) {
    throw refusalOfWrite(error, stream, expected);
  }
}

/**
 * Last revision of a stream. That of a deleted one is not to be read, so the server is asked for it by an append that it must refuse:
 * it expects a revision that no stream has.
 */
async function lastRevision({ reading, connection, timeoutMs }: WriterOptions, stream: string): Promise<StreamRevision | 'tombstoned' | undefined> {
  try {
    for await (const { event } of drain(reading.client.readStream(stream, { direction: 'backwards', fromRevision: 'end', maxCount: 1 }), reading)) {
      if (event) return revisionOf(event.revision);
    }
  } catch (error) {
    if (failureType(error) === ErrorType.STREAM_DELETED) return 'tombstoned';
    if (failureType(error) !== ErrorType.STREAM_NOT_FOUND) throw refusalOfRead(error);
  }
  try {
    await settled(
      connection.writer.appendToStream(stream, jsonEvent({ type: 'Probe', data: {} }), {
        expectedRevision: BigInt(Number.MAX_SAFE_INTEGER),
        deadline: timeoutMs,
        ...(connection.credentials ? { credentials: connection.credentials } : {}),
      }),
      timeoutMs,
    );
    throw refusal('internal', { message: 'the event store took an append at a revision that no stream has' });
  } catch (error) {
    if (failureType(error) === ErrorType.STREAM_DELETED) return 'tombstoned';
    if (failureType(error) !== ErrorType.WRONG_EXPECTED_VERSION) throw refusalOfRead(error);
    const actual = actualOf(error);
    return actual === undefined || actual < 0 ? undefined : actual;
  }
}

async function readMetadata({ reading }: WriterOptions, stream: string): Promise<{ readonly metadata: Metadata; readonly revision: bigint | undefined }> {
  try {
    for await (const { event } of drain(reading.client.readStream(`$$${stream}`, { direction: 'backwards', fromRevision: 'end', maxCount: 1 }), reading)) {
      if (event) return { metadata: isMetadata(event.data) ? event.data : {}, revision: event.revision };
    }
  } catch (error) {
    if (failureType(error) !== ErrorType.STREAM_NOT_FOUND) throw refusalOfRead(error);
  }
  return { metadata: {}, revision: undefined };
}

function isMetadata(data: unknown): data is Metadata {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}

/** A deletion is a `$tb` past every revision that will ever be; the greatest integer of the server, which a number can't hold. */
function isDeleted(metadata: Metadata, last: StreamRevision): boolean {
  const before = numberOf(metadata['$tb']);
  return before !== undefined && before > Number.MAX_SAFE_INTEGER && last >= 0;
}

function keptOf(metadata: Metadata): Kept {
  const before = numberOf(metadata['$tb']);
  const kept = metadata[KEPT];
  if (!isMetadata(kept)) return before === undefined || before > Number.MAX_SAFE_INTEGER ? {} : { truncateBefore: before };
  const truncateBefore = numberOf(kept['truncateBefore']);
  const hiddenBefore = numberOf(kept['hiddenBefore']);
  const written = Math.max(truncateBefore ?? 0, hiddenBefore ?? 0);
  const moved = before !== undefined && before !== written ? before : hiddenBefore;
  return { ...(truncateBefore === undefined ? {} : { truncateBefore }), ...(moved === undefined ? {} : { hiddenBefore: moved }) };
}

function retentionOf(metadata: Metadata): Retention {
  const { truncateBefore } = keptOf(metadata);
  const maxCount = numberOf(metadata['$maxCount']);
  const maxAgeSeconds = numberOf(metadata['$maxAge']);
  return { ...(maxCount === undefined ? {} : { maxCount }), ...(maxAgeSeconds === undefined ? {} : { maxAgeSeconds }), ...(truncateBefore === undefined ? {} : { truncateBefore }) };
}

function withRetention(metadata: Metadata, { maxCount, maxAgeSeconds, truncateBefore }: Retention): Record<string, unknown> {
  const { $maxCount: _count, $maxAge: _age, $tb, [KEPT]: own, ...others } = metadata;
  // Without our note, what the server hides was hidden by it or its operators, and stays hidden.
  const before = own === undefined ? numberOf($tb) : keptOf(metadata).hiddenBefore;
  const from = Math.max(before ?? 0, truncateBefore ?? 0);
  return {
    ...others,
    ...(maxCount === undefined ? {} : { $maxCount: maxCount }),
    ...(maxAgeSeconds === undefined ? {} : { $maxAge: maxAgeSeconds }),
    ...(from === 0 ? {} : { $tb: from }),
    [KEPT]: { ...(truncateBefore === undefined ? {} : { truncateBefore }), ...(before === undefined ? {} : { hiddenBefore: before }) },
  };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined;
}
