import { ErrorType, jsonEvent } from '@eventstore/db-client';
import type { Expected, Retention, StreamInfo } from '../../../application/ports/event-store.ts';
import { hasCode, refusal } from '../../../domain/errors.ts';
import type { StreamRevision } from '../../../domain/event.ts';
import { conflictRefusal } from '../conflict.ts';
import { checkExpected, checkRetention } from '../encode-append.ts';
import { drain } from './drain.ts';
import { actualOf, failureType, refusalOfRead, refusalOfWrite } from './failures.ts';
import { revisionOf } from './recorded-event.ts';
import { type WriteDependencies, outcomeInTime } from './writer.ts';

type Metadata = Readonly<Record<string, unknown>>;

/**
 * Values stored beside `$tb`, which the server changes itself when a deleted stream is written again: the requested
 * truncation, and the revision before which events stay hidden.
 */
type StoredRetention = { readonly truncateBefore?: number; readonly hiddenBefore?: number };
const METADATA_KEY = 'palimpsest';
const TRIES = 5;
const lastEvent = { requiresLeader: true, direction: 'backwards', fromRevision: 'end', maxCount: 1 } as const;

/** See `EventStore.streamInfo`. */
export async function streamInfo(stream: string, dependencies: WriteDependencies): Promise<StreamInfo | undefined> {
  const found = await lastRevision(stream, dependencies);
  if (found === undefined) return undefined;
  if (found === 'tombstoned') return { state: 'tombstoned', revision: 0, retention: {} };
  const { metadata } = await readMetadata(stream, dependencies);
  return {
    state: isDeleted(metadata, found) ? 'deleted' : 'active',
    revision: found,
    retention: retentionOf(metadata),
  };
}

/**
 * Replaces the retention; the access list and metadata of other programs are kept.
 * @throws `stream_deleted` for a deleted stream as well: the server stores the deletion where the retention would be
 * written
 */
export async function setRetention(
  stream: string,
  retention: Retention,
  dependencies: WriteDependencies,
): Promise<void> {
  checkRetention(retention);
  const { connection, timeoutMs } = dependencies;
  const found = await lastRevision(stream, dependencies);
  if (found === 'tombstoned') throw refusal('stream_deleted');
  for (let attempt = 1; ; attempt += 1) {
    const { metadata, revision } = await readMetadata(stream, dependencies);
    if (found !== undefined && isDeleted(metadata, found)) throw refusal('stream_deleted');
    try {
      await outcomeInTime(
        connection.writer.appendToStream(
          `$$${stream}`,
          jsonEvent({ type: '$metadata', data: withRetention(metadata, retention) }),
          {
            expectedRevision: revision ?? 'no_stream',
            deadline: timeoutMs,
            ...(connection.credentials ? { credentials: connection.credentials } : {}),
          },
        ),
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
export async function deleteStream(
  stream: string,
  { expected, mode }: { readonly expected: Expected; readonly mode: 'soft' | 'tombstone' },
  dependencies: WriteDependencies,
): Promise<void> {
  checkExpected(expected);
  const { connection, timeoutMs } = dependencies;
  const info = await streamInfo(stream, dependencies);
  if (info?.state === 'tombstoned') throw refusal('stream_deleted');
  // The client does not support this expectation for deletions.
  if (expected === 'stream_exists' && info?.state !== 'active')
    throw conflictRefusal({ stream, expected, actual: info?.revision ?? -1 });
  const expectedRevision =
    typeof expected === 'number' ? BigInt(expected) : expected === 'stream_exists' ? 'any' : expected;
  try {
    const call =
      mode === 'soft'
        ? connection.writer.deleteStream(stream, { expectedRevision, deadline: timeoutMs })
        : connection.writer.tombstoneStream(stream, { expectedRevision, deadline: timeoutMs });
    await outcomeInTime(call, timeoutMs);
  } catch (error) {
    throw refusalOfWrite(error, stream, expected);
  }
}

/**
 * Returns the last revision of a stream. The revision of a deleted stream is not readable; an append that expects a
 * revision which no stream has makes the server report it in its refusal.
 */
async function lastRevision(
  stream: string,
  { reading, connection, timeoutMs }: WriteDependencies,
): Promise<StreamRevision | 'tombstoned' | undefined> {
  try {
    for await (const { event } of drain(() => reading.client.readStream(stream, lastEvent), reading)) {
      if (event) return revisionOf(event.revision);
    }
  } catch (error) {
    if (failureType(error) === ErrorType.STREAM_DELETED) return 'tombstoned';
    if (failureType(error) !== ErrorType.STREAM_NOT_FOUND) throw refusalOfRead(error);
  }
  try {
    await outcomeInTime(
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

async function readMetadata(
  stream: string,
  { reading }: WriteDependencies,
): Promise<{ readonly metadata: Metadata; readonly revision: bigint | undefined }> {
  try {
    for await (const { event } of drain(() => reading.client.readStream(`$$${stream}`, lastEvent), reading)) {
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

/**
 * A deletion is a `$tb` beyond every possible revision: the server's greatest integer, which a number cannot represent
 * exactly.
 */
function isDeleted(metadata: Metadata, last: StreamRevision): boolean {
  const before = numberOf(metadata['$tb']);
  return before !== undefined && before > Number.MAX_SAFE_INTEGER && last >= 0;
}

function storedRetentionOf(metadata: Metadata): StoredRetention {
  const before = numberOf(metadata['$tb']);
  const stored = metadata[METADATA_KEY];
  if (!isMetadata(stored))
    return before === undefined || before > Number.MAX_SAFE_INTEGER ? {} : { truncateBefore: before };
  const truncateBefore = numberOf(stored['truncateBefore']);
  const hiddenBefore = numberOf(stored['hiddenBefore']);
  const written = Math.max(truncateBefore ?? 0, hiddenBefore ?? 0);
  const moved = before !== undefined && before !== written ? before : hiddenBefore;
  return {
    ...(truncateBefore === undefined ? {} : { truncateBefore }),
    ...(moved === undefined ? {} : { hiddenBefore: moved }),
  };
}

function retentionOf(metadata: Metadata): Retention {
  const { truncateBefore } = storedRetentionOf(metadata);
  const maxCount = numberOf(metadata['$maxCount']);
  const maxAgeSeconds = numberOf(metadata['$maxAge']);
  return {
    ...(maxCount === undefined ? {} : { maxCount }),
    ...(maxAgeSeconds === undefined ? {} : { maxAgeSeconds }),
    ...(truncateBefore === undefined ? {} : { truncateBefore }),
  };
}

function withRetention(
  metadata: Metadata,
  { maxCount, maxAgeSeconds, truncateBefore }: Retention,
): Record<string, unknown> {
  const { $maxCount: _count, $maxAge: _age, $tb, [METADATA_KEY]: own, ...others } = metadata;
  // Without our own metadata, the server or an operator set `$tb`; those events stay hidden.
  const before = own === undefined ? numberOf($tb) : storedRetentionOf(metadata).hiddenBefore;
  const from = Math.max(before ?? 0, truncateBefore ?? 0);
  return {
    ...others,
    ...(maxCount === undefined ? {} : { $maxCount: maxCount }),
    ...(maxAgeSeconds === undefined ? {} : { $maxAge: maxAgeSeconds }),
    ...(from === 0 ? {} : { $tb: from }),
    [METADATA_KEY]: {
      ...(truncateBefore === undefined ? {} : { truncateBefore }),
      ...(before === undefined ? {} : { hiddenBefore: before }),
    },
  };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined;
}
