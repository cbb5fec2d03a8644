import type { AppendResult } from '../../../application/ports/event-store.ts';
import { refusal } from '../../../domain/errors.ts';
import type { EncodedAppend } from '../encode-append.ts';

/** Maximum number of appends and bytes in one call; a single append may be larger. */
const MAX_APPENDS = 256;
const MAX_BYTES = 4 * 1024 * 1024;
/** Maximum bytes in the queue; further appends are refused. */
const MAX_QUEUED_BYTES = 128 * 1024 * 1024;
/** Time that an append waits for a connection before it is refused, in milliseconds. */
const CONNECTION_WAIT_MS = 5_000;

/** One append, or several that are written all or none (`atomic`), and how their caller gets the results. */
export type QueueEntry = {
  readonly appends: readonly EncodedAppend[];
  readonly atomic: boolean;
  /** Drops the entry while it waits. */
  readonly signal: AbortSignal | undefined;
  readonly resolve: (results: readonly AppendResult[]) => void;
  readonly reject: (error: unknown) => void;
};

/** The appends that wait for a call, in order of arrival. */
export type AppendQueue = {
  length(): number;
  /** @throws `store_unavailable` when too many bytes wait */
  add(entry: QueueEntry): void;
  /** Removes the entries of the next call: at most `most`, and only one that is atomic. */
  take(most?: number): readonly QueueEntry[];
  /** Rejects and removes the entries that may not wait for a connection after the time of `performance.now()`. */
  refuseLate(at: number, reason: unknown): void;
};

type Waiting = QueueEntry & { readonly bytes: number; readonly deadline: number };

export function createAppendQueue(): AppendQueue {
  let waiting: Waiting[] = [];
  let queuedBytes = 0;

  return {
    length: () => waiting.length,
    add(entry) {
      const bytes = entry.appends.reduce((sum, append) => sum + append.bytes, 0);
      if (queuedBytes > 0 && queuedBytes + bytes > MAX_QUEUED_BYTES)
        throw refusal('store_unavailable', { message: 'too many appends are waiting' });
      queuedBytes += bytes;
      waiting.push({ ...entry, bytes, deadline: performance.now() + CONNECTION_WAIT_MS });
    },
    take(most = MAX_APPENDS) {
      const entries: QueueEntry[] = [];
      let bytes = 0;
      let examined = 0;
      for (const entry of waiting) {
        if (
          entries.length > 0 &&
          (entry.atomic || entries.length === most || entries.length === MAX_APPENDS || bytes + entry.bytes > MAX_BYTES)
        )
          break;
        examined += 1;
        queuedBytes -= entry.bytes;
        if (entry.signal?.aborted) {
          entry.reject(entry.signal.reason);
          continue;
        }
        entries.push(entry);
        bytes += entry.bytes;
        if (entry.atomic) break;
      }
      waiting = waiting.slice(examined);
      return entries;
    },
    refuseLate(at, reason) {
      const late = waiting.filter(({ deadline }) => deadline <= at);
      waiting = waiting.filter((entry) => !late.includes(entry));
      for (const entry of late) {
        queuedBytes -= entry.bytes;
        entry.reject(reason);
      }
    },
  };
}
