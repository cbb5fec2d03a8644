import { ErrorType, jsonEvent } from '@eventstore/db-client';
import type { AppendResult, Expected } from '../../../application/ports/event-store.ts';
import { refusal } from '../../../domain/errors.ts';
import type { NewEvent, RecordedEvent } from '../../../domain/event.ts';
import { positionFrom } from '../../../domain/event.ts';
import { encodeAppend } from '../encode-append.ts';
import type { Connection } from './connection.ts';
import { failureType, refusalOfWrite } from './failures.ts';
import { positionOf, revisionOf } from './recorded-event.ts';
import type { ReaderOptions } from './reader.ts';
import { readStream } from './reader.ts';
import { drain } from './drain.ts';

export type WriterOptions = {
  readonly connection: Connection;
  readonly reading: ReaderOptions;
  /** After that long without an answer the outcome of a write is unknown. */
  readonly timeoutMs: number;
};

/** The client's form of an expectation. */
export function expectedRevision(expected: Expected): 'any' | 'no_stream' | 'stream_exists' | bigint {
  return typeof expected === 'number' ? BigInt(expected) : expected;
}

/**
 * See `EventStore.append`. The server answers a repeated append with the first outcome and does not tell that it did: `duplicate` is always false.
 */
export async function append(options: WriterOptions, stream: string, events: readonly NewEvent[], { expected, signal }: { readonly expected: Expected; readonly signal?: AbortSignal }): Promise<AppendResult> {
  const { connection, timeoutMs } = options;
  const encoded = encodeAppend(stream, events, expected);
  signal?.throwIfAborted();
  // Our own copy, surely JSON: what JSON.stringify refuses inside the client would leave the append pending for ever.
  const proposed = encoded.events.map(({ id, type, data, metadata }) => jsonEvent({ id, type, data: parse(data), metadata: parse(metadata) }));
  try {
    const { nextExpectedRevision, position } = await settled(
      connection.writer.appendToStream(stream, proposed, {
        expectedRevision: expectedRevision(expected),
        deadline: timeoutMs,
        ...(connection.credentials ? { credentials: connection.credentials } : {}),
      }),
      timeoutMs,
      signal,
    );
    const revision = revisionOf(nextExpectedRevision);
    return { revision, position: position ? positionFrom(position.commit) : await positionAt(options, stream, nextExpectedRevision), duplicate: false };
  } catch (error) {
    if (failureType(error) === ErrorType.WRONG_EXPECTED_VERSION && (await isPartlyThere(options.reading, stream, events, expected))) {
      throw refusal('idempotency_corrupted', { cause: error });
    }
    throw refusalOfWrite(error, stream, expected);
  }
}

/** The outcome of a write, or the refusal `outcome_unknown` when it does not come in time. A later outcome is dropped. */
export function settled<T>(write: Promise<T>, timeoutMs: number, signal?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      reject(refusal('outcome_unknown', { cause: signal?.reason }));
    };
    const timer = setTimeout(() => {
      reject(refusal('outcome_unknown', { cause: new Error(`no answer within ${timeoutMs} ms`) }));
    }, timeoutMs);
    signal?.addEventListener('abort', abort, { once: true });
    write.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    });
  });
}

/**
 * The server calls it a conflict when only the first ids of an append are there. Whether they are is seen where the append would begin;
 * where anything is expected, nothing else can be in conflict.
 */
async function isPartlyThere(reading: ReaderOptions, stream: string, events: readonly NewEvent[], expected: Expected): Promise<boolean> {
  if (expected === 'any') return true;
  let first: RecordedEvent | undefined;
  try {
    if (expected === 'stream_exists') {
      for await (const event of readStream(reading, stream, { direction: 'backwards' })) if (event.id === events[0]?.id) return true;
      return false;
    }
    const from = expected === 'no_stream' ? 0 : expected + 1;
    for await (const event of readStream(reading, stream, { from, limit: 1 })) if (event.revision === from) first = event;
  } catch {
    return false;
  }
  return first !== undefined && first.id === events[0]?.id;
}

async function positionAt({ reading }: WriterOptions, stream: string, revision: bigint) {
  for await (const { event, commitPosition } of drain(reading.client.readStream(stream, { fromRevision: revision, maxCount: 1 }), reading)) {
    if (event?.revision === revision) return positionOf(event, commitPosition);
  }
  throw refusal('outcome_unknown', { message: 'the append is done, its position is not known' });
}

function parse(json: string): Record<string, unknown> {
  const value: unknown = JSON.parse(json);
  return value as Record<string, unknown>;
}
