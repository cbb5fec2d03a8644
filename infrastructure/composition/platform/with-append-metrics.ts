import type { EventStore } from '../../../application/ports/event-store.ts';
import type { Metrics } from '../../../application/ports/metrics.ts';
import { hasCode } from '../../../domain/errors.ts';
import { withAppends } from './with-appends.ts';

/** The event store with the time and outcome of each append in the metrics. */
export function withAppendMetrics(
  store: EventStore,
  { metrics }: { readonly metrics: Pick<Metrics, 'appendFinished'> },
): EventStore {
  async function timed<T>(append: Promise<T>): Promise<T> {
    const started = performance.now();
    const seconds = () => (performance.now() - started) / 1000;
    try {
      const result = await append;
      metrics.appendFinished('ok', seconds());
      return result;
    } catch (error) {
      const isConflict = hasCode(error, 'conflict') || hasCode(error, 'guard_failed');
      metrics.appendFinished(isConflict ? 'conflict' : 'error', seconds());
      throw error;
    }
  }
  const appendMany = store.appendMany?.bind(store);
  return withAppends(store, {
    append: (stream, events, options) => timed(store.append(stream, events, options)),
    appendMany: appendMany && ((writes) => timed(appendMany(writes))),
  });
}
