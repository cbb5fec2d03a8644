import type { EventStore } from '../../application/ports/event-store.ts';
import type { Metrics } from '../../application/ports/metrics.ts';
import { hasCode } from '../../domain/errors.ts';

/** The store with its appends measured, whichever adapter it is. */
export function measured(store: EventStore, metrics: Pick<Metrics, 'appendFinished'>): EventStore {
  async function timed<T>(append: Promise<T>): Promise<T> {
    const started = performance.now();
    const seconds = () => (performance.now() - started) / 1000;
    try {
      const result = await append;
      metrics.appendFinished('ok', seconds());
      return result;
    } catch (error) {
      metrics.appendFinished(hasCode(error, 'conflict') ? 'conflict' : 'error', seconds());
      throw error;
    }
  }
  const appendMany = store.appendMany?.bind(store);
  return {
    capabilities: store.capabilities,
    append: (stream, events, options) => timed(store.append(stream, events, options)),
    ...(appendMany ? { appendMany: (writes) => timed(appendMany(writes)) } : {}),
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
