import type { Answer } from './route.ts';

/** Server-sent events, the format of `text/event-stream` (WHATWG HTML, 9.2). */

/** Whether the client asks for a stream of events. */
export function wantsEventStream(accept: string | undefined): boolean {
  return accept?.split(',').some((range) => range.split(';', 1)[0]?.trim().toLowerCase() === 'text/event-stream') ?? false;
}

/** One event. Neither `id`, `event` nor `data` may hold line breaks: JSON text has none. */
export function serverSentEvent({ id, event, data }: { readonly id?: string; readonly event: string; readonly data: string }): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

/** Tells the client where it would go on, without an event; also keeps the connection alive. */
export function heartbeat(id: string): string {
  return `: heartbeat\nid: ${id}\n\n`;
}

/** The answer that carries such a stream; no proxy may hold it back. */
export function eventStreamAnswer(stream: AsyncIterable<string>, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status: 200, stream, endless: true, headers: { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no', ...headers } };
}

/** What a source gives, and a tick whenever it has given nothing for so long. */
export async function* withTicks<T>(source: AsyncIterable<T>, everyMs: number): AsyncIterable<{ readonly item: T } | 'tick'> {
  const iterator = source[Symbol.asyncIterator]();
  let wake: () => void = () => undefined;
  let asked = false;
  let came: { readonly next: IteratorResult<T> } | { readonly error: unknown } | undefined;
  try {
    for (;;) {
      if (!asked) {
        asked = true;
        iterator.next().then(
          (next) => {
            came = { next };
            wake();
          },
          (error: unknown) => {
            came = { error };
            wake();
          },
        );
      }
      await arrival();
      const arrived = take();
      if (!arrived) yield 'tick';
      else if ('error' in arrived) throw arrived.error;
      else if (arrived.next.done === true) return;
      else yield { item: arrived.next.value };
    }
  } finally {
    // Not waited for: a source that is busy gives itself back when it hears of its signal.
    void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }

  function take(): typeof came {
    const arrived = came;
    came = undefined;
    if (arrived) asked = false;
    return arrived;
  }

  /** One waiter at a time, so that a source that is silent for days leaves nothing behind. */
  function arrival(): Promise<void> {
    return new Promise((resolve) => {
      if (came) {
        resolve();
        return;
      }
      const timer = setTimeout(resolve, everyMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
