import { ErrorType } from '@eventstore/db-client';
import { setTimeout as pause } from 'node:timers/promises';
import { refusal } from '../../../domain/errors.ts';
import { failureType } from './failures.ts';

/** A read or subscription of the client. */
export type ClientStream<T> = AsyncIterable<T> & {
  on(event: 'error', listener: (error: unknown) => void): unknown;
  destroy(error?: Error): unknown;
};

/** Pauses in milliseconds before a read is sent to the leader that the refusal of another node named. */
const LEADER_PAUSES_MS = [20, 100, 500];

/**
 * Iterates a read of the client and cleans up: the call is cancelled however the iteration ends, an error after the end
 * is ignored (it would terminate the process), and silence of the server for `idleMs` is an error. A node that is not
 * the leader refuses reads that require it; the client sends its next call to the leader, so the read is opened again.
 * @param open starts the read
 */
export async function* drain<T>(
  open: () => ClientStream<T> & { cancel(): Promise<void> },
  { idleMs, signal }: { readonly idleMs: number; readonly signal?: AbortSignal | undefined },
): AsyncIterable<T> {
  for (let attempt = 0; ; attempt += 1) {
    const stream = open();
    stream.on('error', ignoreError);
    let waiting = true;
    let received = false;
    const timer = setTimeout(() => {
      if (waiting) stream.destroy(refusal('store_unavailable', { message: 'the event store does not answer' }));
      else timer.refresh();
    }, idleMs);
    const abort = () => stream.destroy(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    let wait: number | undefined;
    try {
      for await (const item of stream) {
        waiting = false;
        received = true;
        yield item;
        waiting = true;
        timer.refresh();
      }
      return;
    } catch (error) {
      wait = LEADER_PAUSES_MS[attempt];
      if (received || wait === undefined || failureType(error) !== ErrorType.NOT_LEADER) throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      stream.cancel().catch(ignoreError);
    }
    await pause(wait, undefined, { signal });
  }
}

export function ignoreError(): void {
  // The error was reported elsewhere or arrived too late to matter.
}
