import { createWaker } from '../../application/concurrency/waker.ts';
import type { RouteResponse } from './route.ts';

/** Server-sent events: the format `text/event-stream` (WHATWG HTML, section 9.2). */

/** Whether an `Accept` header asks for a stream of server-sent events. */
export function wantsEventStream(accept: string | undefined): boolean {
  return (
    accept?.split(',').some((range) => range.split(';', 1)[0]?.trim().toLowerCase() === 'text/event-stream') ?? false
  );
}

/** Formats one event. `id`, `event` and `data` must not contain line breaks; JSON text contains none. */
export function serverSentEvent({
  id,
  event,
  data,
}: {
  readonly id?: string;
  readonly event: string;
  readonly data: string;
}): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

/** Formats a heartbeat: it keeps the connection alive and moves the client's last event id without an event. */
export function heartbeat(id: string): string {
  return `: heartbeat\nid: ${id}\n\n`;
}

/** The response that sends a stream of events. Its headers disable caching and the buffering of proxies. */
export function eventStreamResponse(
  stream: AsyncIterable<string>,
  headers: Readonly<Record<string, string>> = {},
): RouteResponse {
  return {
    status: 200,
    stream,
    endless: true,
    headers: {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Accel-Buffering': 'no',
      ...headers,
    },
  };
}

/** Yields the items of a source, and `'tick'` whenever the source has been silent for `everyMs` milliseconds. */
export async function* withTicks<T>(
  source: AsyncIterable<T>,
  everyMs: number,
): AsyncIterable<{ readonly item: T } | 'tick'> {
  const iterator = source[Symbol.asyncIterator]();
  const waker = createWaker();
  let requested = false;
  let arrived: { readonly next: IteratorResult<T> } | { readonly error: unknown } | undefined;
  try {
    for (;;) {
      if (!requested) {
        requested = true;
        iterator.next().then(
          (next) => {
            arrived = { next };
            waker.wake();
          },
          (error: unknown) => {
            arrived = { error };
            waker.wake();
          },
        );
      }
      // One waiter at a time, so that memory stays flat during silence.
      while (!arrived && (await waker.wait(everyMs))) continue;
      const taken = take();
      if (!taken) yield 'tick';
      else if ('error' in taken) throw taken.error;
      else if (taken.next.done === true) return;
      else yield { item: taken.next.value };
    }
  } finally {
    // Do not await: a source that waits for its next item closes only when its abort signal fires.
    void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }

  function take(): typeof arrived {
    const taken = arrived;
    arrived = undefined;
    if (taken) requested = false;
    return taken;
  }
}
