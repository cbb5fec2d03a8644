import type { EventStore } from '../../application/ports/event-store.ts';

/** How a store around another one appends; without `appendMany` where the inner store has none. */
export type Appends = { readonly append: EventStore['append']; readonly appendMany: EventStore['appendMany'] | undefined };

/** The store with other appends, whichever adapter it is; everything else goes on to it. */
export function withAppends(store: EventStore, { append, appendMany }: Appends): EventStore {
  return {
    capabilities: store.capabilities,
    append,
    ...(appendMany ? { appendMany } : {}),
    readStream: (stream, options) => store.readStream(stream, options),
    readAll: (options) => store.readAll(options),
    subscribe: (options) => store.subscribe(options),
    head: () => store.head(),
    findEvent: (id) => store.findEvent(id),
    streamInfo: (stream) => store.streamInfo(stream),
    setRetention: (stream, retention) => store.setRetention(stream, retention),
    deleteStream: (stream, options) => store.deleteStream(stream, options),
    close: () => store.close(),
  };
}
