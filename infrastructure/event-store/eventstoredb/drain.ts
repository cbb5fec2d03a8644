import { refusal } from '../../../domain/errors.ts';

/** A read or subscription of the client. */
export type ClientStream<T> = AsyncIterable<T> & {
  on(event: 'error', listener: (error: unknown) => void): unknown;
  destroy(error?: Error): unknown;
};

/**
 * Iterates a stream of the client and cleans up: the call is cancelled however the iteration ends, an error after the
 * end is ignored (it would terminate the process), and silence of the server for `idleMs` is an error.
 */
export async function* drain<T>(
  stream: ClientStream<T> & { cancel(): Promise<void> },
  { idleMs, signal }: { readonly idleMs: number; readonly signal?: AbortSignal | undefined },
): AsyncIterable<T> {
  stream.on('error', ignore);
  let waiting = true;
  const timer = setTimeout(() => {
    if (waiting) stream.destroy(refusal('store_unavailable', { message: 'the event store does not answer' }));
    else timer.refresh();
  }, idleMs);
  const abort = () => stream.destroy(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    for await (const item of stream) {
      waiting = false;
      yield item;
      waiting = true;
      timer.refresh();
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    stream.cancel().catch(ignore);
  }
}

export function ignore(): void {
  // The error was reported elsewhere or arrived too late to matter.
}
