import { PalimpsestError } from './errors.ts';
import { readEvents } from './event-stream.ts';
import { plainQuery } from './query.ts';
import { type Transport, pause } from './transport.ts';
import type { Change, ChangesOptions } from './types.ts';

/** Milliseconds between two attempts to open a broken stream again. */
const RECONNECT_MS = 1000;

/**
 * The changes of a content type in the order of the log, deletions included. Breaking out of the loop ends the request.
 * @throws PalimpsestError when the service refuses the request
 */
export function followChanges<Data>(
  path: string,
  options: ChangesOptions,
  transport: Transport,
): AsyncGenerator<Change<Data>> {
  return options.live === 'stream' ? streamed(path, options, transport) : polled(path, options, transport);
}

type ChangePage<Data> = { readonly data: readonly Change<Data>[]; readonly next: string };

async function* polled<Data>(
  path: string,
  { after, limit, live = false, pollMs = 1000, signal }: ChangesOptions,
  transport: Transport,
): AsyncGenerator<Change<Data>> {
  let from = after;
  for (;;) {
    const { body } = await transport.request({
      method: 'GET',
      path: path + plainQuery({ after: from, limit }),
      signal,
    });
    const page = body as ChangePage<Data>;
    for (const change of page.data) yield change;
    const moved = page.next !== from;
    from = page.next;
    if (moved) continue;
    if (live === false) return;
    await pause(pollMs, signal);
  }
}

async function* streamed<Data>(
  path: string,
  { after, signal }: ChangesOptions,
  transport: Transport,
): AsyncGenerator<Change<Data>> {
  let from = after;
  for (;;) {
    const ending = new AbortController();
    const end = (): void => {
      ending.abort(signal?.reason);
    };
    signal?.addEventListener('abort', end, { once: true });
    try {
      signal?.throwIfAborted();
      const response = await transport.open({
        method: 'GET',
        path: path + plainQuery({ after: from }),
        headers: { Accept: 'text/event-stream' },
        signal: ending.signal,
      });
      if (!response.body) return;
      for await (const { id, event, data } of readEvents(response.body)) {
        if (event === 'closed') throw new PalimpsestError({ status: 403, body: JSON.parse(data) as unknown });
        if (event === 'change') {
          const change = JSON.parse(data) as Change<Data>;
          yield change;
        }
        if (id !== undefined) from = id;
      }
    } catch (error) {
      signal?.throwIfAborted();
      // Connect again after a broken connection or a server error. Do not repeat a refused request.
      if (error instanceof PalimpsestError && error.status < 500) throw error;
    } finally {
      signal?.removeEventListener('abort', end);
      ending.abort();
    }
    await pause(RECONNECT_MS, signal);
  }
}
