import { type RecordableHistogram, createHistogram } from 'node:perf_hooks';
import type { RouteLatencies, RouteLatency } from '../../application/ports/process-insight.ts';

export type LatencyRecorder = RouteLatencies & {
  /** Records a request. `route` is the declared path, `seconds` the time until the response. */
  record(api: 'admin' | 'content', route: string, method: string, seconds: number): void;
};

export type LatencyRecorderOptions = {
  /** Monotonic clock in milliseconds. */
  readonly now?: () => number;
};

/** Latencies of a route in two consecutive periods. */
type Periods = {
  readonly api: 'admin' | 'content';
  readonly route: string;
  readonly method: string;
  current: RecordableHistogram;
  previous: RecordableHistogram;
};

/** Length of a period. The result of `slowest` covers the last 5 to 10 minutes. */
const PERIOD_MS = 300_000;
const MICROSECONDS = 1e6;

/**
 * Records the latencies of this process's routes in HDR histograms of microseconds, two for each route. Memory is
 * bounded, because routes are declared.
 */
export function createLatencyRecorder({ now = () => performance.now() }: LatencyRecorderOptions = {}): LatencyRecorder {
  const routes = new Map<string, Periods>();
  let periodStart = now();

  function startPeriodWhenDue(): void {
    const at = now();
    if (at - periodStart < PERIOD_MS) return;
    const bothExpired = at - periodStart >= 2 * PERIOD_MS;
    periodStart = at;
    for (const periods of routes.values()) {
      periods.previous = bothExpired ? createHistogram() : periods.current;
      periods.current = createHistogram();
    }
  }

  return {
    record(api, route, method, seconds) {
      startPeriodWhenDue();
      const key = `${api} ${method} ${route}`;
      let periods = routes.get(key);
      if (!periods)
        routes.set(key, (periods = { api, route, method, current: createHistogram(), previous: createHistogram() }));
      periods.current.record(Math.max(1, Math.round(seconds * MICROSECONDS)));
    },
    slowest(limit) {
      startPeriodWhenDue();
      const all: RouteLatency[] = [];
      for (const { api, route, method, current, previous } of routes.values()) {
        const both = createHistogram();
        both.add(current);
        both.add(previous);
        if (both.count === 0) continue;
        const ms = (value: number) => value / 1000;
        all.push({
          api,
          method,
          route,
          count: both.count,
          p50_ms: ms(both.percentile(50)),
          p95_ms: ms(both.percentile(95)),
          p99_ms: ms(both.percentile(99)),
          max_ms: ms(both.max),
        });
      }
      return all.toSorted((a, b) => b.p99_ms - a.p99_ms).slice(0, limit);
    },
  };
}
