import type { Tracing } from '../../../application/ports/tracing.ts';
import { type LatencyRecorder, createLatencyRecorder } from '../../metrics/latency-recorder.ts';
import { type ProcessMetrics, openMetrics } from '../../metrics/open-metrics.ts';

export type Observability = {
  readonly metrics: ProcessMetrics;
  /** Latencies by route, for the debug routes. */
  readonly latencies: LatencyRecorder;
  /** Undefined when no traces are exported. */
  readonly tracing: Tracing | undefined;
};

/** Metrics, latencies and traces of this process. A finished request counts in the metrics and in the latencies. */
export function createObservability(tracing: Tracing | undefined): Observability {
  const latencies = createLatencyRecorder();
  const metrics = openMetrics();
  return {
    latencies,
    tracing,
    metrics: {
      ...metrics,
      requestFinished(api, route, method, status, seconds) {
        metrics.requestFinished(api, route, method, status, seconds);
        latencies.record(api, route, method, seconds);
      },
    },
  };
}
