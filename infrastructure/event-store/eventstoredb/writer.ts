import { ErrorType, jsonEvent } from '@eventstore/db-client';
import { abortable } from '../../../application/concurrency/abortable.ts';
import { withDeadline } from '../../../application/concurrency/with-deadline.ts';
import type { AppendResult, Expected, StreamWrite } from '../../../application/ports/event-store.ts';
import { refusal } from '../../../domain/errors.ts';
import { type RecordedEvent, positionFrom } from '../../../domain/event.ts';
import { encodeAppend } from '../encode-append.ts';
import type { Connection } from './connection.ts';
import { drain } from './drain.ts';
import { failureType, refusalOfWrite } from './failures.ts';
import { type ReadDependencies, readStream } from './reader.ts';
import { positionOf, revisionOf } from './recorded-event.ts';

export type WriteDependencies = {
  readonly connection: Connection;
  readonly reading: ReadDependencies;
  /** Time without a response after which the outcome of a write is unknown, in milliseconds. */
  readonly timeoutMs: number;
};

type Write = Pick<StreamWrite, 'stream' | 'events' | 'expected'>;

/** Converts an expected revision for the client. */
function expectedRevision(expected: Expected): 'any' | 'no_stream' | 'stream_exists' | bigint {
  return typeof expected === 'number' ? BigInt(expected) : expected;
}

/**
 * See `EventStore.append`. The server returns the first result for a repeated append without marking it: `duplicate` is
 * always false.
 */
export async function append(
  { stream, events, expected, signal }: Write & { readonly signal?: AbortSignal },
  dependencies: WriteDependencies,
): Promise<AppendResult> {
  const { connection, timeoutMs } = dependencies;
  const encoded = encodeAppend({ stream, events, expected });
  signal?.throwIfAborted();
  // A copy that is known to be valid JSON: if JSON.stringify failed inside the client, the append would stay pending
  // forever.
  const proposed = encoded.events.map(({ id, type, data, metadata }) =>
    jsonEvent({ id, type, data: parse(data), metadata: parse(metadata) }),
  );
  try {
    const written = connection.writer.appendToStream(stream, proposed, {
      expectedRevision: expectedRevision(expected),
      deadline: timeoutMs,
      ...(connection.credentials ? { credentials: connection.credentials } : {}),
    });
    const { nextExpectedRevision, position } = await outcomeInTime(
      signal ? abortable(written, signal) : written,
      timeoutMs,
    );
    const revision = revisionOf(nextExpectedRevision);
    return {
      revision,
      position: position ? positionFrom(position.commit) : await positionAt(stream, nextExpectedRevision, dependencies),
      duplicate: false,
    };
  } catch (error) {
    if (
      failureType(error) === ErrorType.WRONG_EXPECTED_VERSION &&
      (await isPartlyWritten({ stream, events, expected }, dependencies))
    ) {
      throw refusal('idempotency_corrupted', { cause: error });
    }
    throw refusalOfWrite(error, stream, expected);
  }
}

/**
 * Waits for the result of a write. @throws `outcome_unknown` when it does not arrive in time; a later result is ignored
 */
export function outcomeInTime<T>(write: Promise<T>, timeoutMs: number): Promise<T> {
  return withDeadline(write, timeoutMs, () => {
    throw refusal('outcome_unknown', { cause: new Error(`no answer within ${timeoutMs} ms`) });
  });
}

/**
 * Whether only the first ids of an append are in the stream, which the server reports as a conflict. Checks the
 * revision at which the append would start; with `any`, no other cause of a conflict exists.
 */
async function isPartlyWritten({ stream, events, expected }: Write, { reading }: WriteDependencies): Promise<boolean> {
  if (expected === 'any') return true;
  let first: RecordedEvent | undefined;
  try {
    if (expected === 'stream_exists') {
      for await (const event of readStream(stream, { direction: 'backwards' }, reading))
        if (event.id === events[0]?.id) return true;
      return false;
    }
    const from = expected === 'no_stream' ? 0 : expected + 1;
    for await (const event of readStream(stream, { from, limit: 1 }, reading))
      if (event.revision === from) first = event;
  } catch {
    return false;
  }
  return first !== undefined && first.id === events[0]?.id;
}

async function positionAt(stream: string, revision: bigint, { reading }: WriteDependencies) {
  for await (const { event, commitPosition } of drain(
    () => reading.client.readStream(stream, { requiresLeader: true, fromRevision: revision, maxCount: 1 }),
    reading,
  )) {
    if (event?.revision === revision) return positionOf(event, commitPosition);
  }
  throw refusal('outcome_unknown', { message: 'the append is done, its position is not known' });
}

function parse(json: string): Record<string, unknown> {
  const value: unknown = JSON.parse(json);
  return value as Record<string, unknown>;
}
