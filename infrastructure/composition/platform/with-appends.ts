import type { EventStore } from '../../../application/ports/event-store.ts';

/** The appends of a wrapper; `appendMany` is undefined when the inner store has none. */
export type Appends = {
  readonly append: EventStore['append'];
  readonly appendMany: EventStore['appendMany'] | undefined;
};

/** The event store with its appends replaced. Every other call goes to the inner store. */
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
