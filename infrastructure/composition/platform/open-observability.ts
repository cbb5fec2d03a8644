import type { Tracing } from '../../../application/ports/tracing.ts';
import { type ProcessMetrics, createMetrics } from '../../metrics/create-metrics.ts';
import { type LatencyRecorder, createLatencyRecorder } from '../../metrics/latency-recorder.ts';

export type Observability = {
  readonly metrics: ProcessMetrics;
  /** Latencies by route, for the debug routes. */
  readonly latencies: LatencyRecorder;
  /** Undefined when no traces are exported. */
  readonly tracing: Tracing | undefined;
};

/** Metrics, latencies and traces of this process. A finished request counts in the metrics and in the latencies. */
export function openObservability(tracing: Tracing | undefined): Observability {
  const latencies = createLatencyRecorder();
  const metrics = createMetrics();
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
