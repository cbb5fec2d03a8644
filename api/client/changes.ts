import { PalimpsestError } from './errors.ts';
import { readEvents } from './event-stream.ts';
import { plainQuery } from './query.ts';
import type { Transport } from './transport.ts';
import { pause } from './transport.ts';
import type { Change, ChangesOptions } from './types.ts';

/** Between two tries to follow a stream that broke off. */
const RECONNECT_MS = 1000;

/** The changes of a content type in the order of the log, deletions included. Breaking out of the loop ends the request. */
export function followChanges<Data>(transport: Transport, path: string, options: ChangesOptions): AsyncGenerator<Change<Data>> {
  return options.live === 'stream' ? streamed(transport, path, options) : polled(transport, path, options);
}

type ChangePage<Data> = { readonly data: readonly Change<Data>[]; readonly next: string };

async function* polled<Data>(transport: Transport, path: string, { after, limit, live = false, pollMs = 1000, signal }: ChangesOptions): AsyncGenerator<Change<Data>> {
  let from = after;
  for (;;) {
    const { body } = await transport.request({ method: 'GET', path: path + plainQuery({ after: from, limit }), signal });
    const page = body as ChangePage<Data>;
    for (const change of page.data) yield change;
    const moved = page.next !== from;
    from = page.next;
    if (moved) continue;
    if (live === false) return;
    await pause(pollMs, signal);
  }
}

async function* streamed<Data>(transport: Transport, path: string, { after, signal }: ChangesOptions): AsyncGenerator<Change<Data>> {
  let from = after;
  for (;;) {
    const ending = new AbortController();
    const end = (): void => {
      ending.abort(signal?.reason);
    };
    signal?.addEventListener('abort', end, { once: true });
    try {
      signal?.throwIfAborted();
      const response = await transport.open({ method: 'GET', path: path + plainQuery({ after: from }), headers: { Accept: 'text/event-stream' }, signal: ending.signal });
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
      // A connection that breaks is taken up again; a refusal is not.
      if (error instanceof PalimpsestError && error.status < 500) throw error;
    } finally {
      signal?.removeEventListener('abort', end);
      ending.abort();
    }
    await pause(RECONNECT_MS, signal);
  }
}
