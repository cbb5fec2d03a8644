import type { RecordableHistogram } from 'node:perf_hooks';
import { createHistogram } from 'node:perf_hooks';
import type { RouteLatency, RouteLatencies } from '../../application/ports/process-insight.ts';

export type LatencyRecorder = RouteLatencies & {
  /** One request answered. `route` is the declared path. */
  record(api: 'admin' | 'content', route: string, method: string, seconds: number): void;
};

/** Two halves of what is remembered: what is recorded now, and the stretch before it. */
type Halves = { readonly api: 'admin' | 'content'; readonly route: string; readonly method: string; now: RecordableHistogram; before: RecordableHistogram };

/** A half lasts so long: answers cover the last 5 to 10 minutes. */
const HALF_MS = 300_000;
const MICROSECONDS = 1e6;

/** Latencies of this process's routes in HDR histograms of microseconds; a route costs two of them, and there are as many as declarations. */
export function createLatencyRecorder(now: () => number = () => performance.now()): LatencyRecorder {
  const routes = new Map<string, Halves>();
  let turned = now();

  function turn(): void {
    const at = now();
    if (at - turned < HALF_MS) return;
    const forgetsAll = at - turned >= 2 * HALF_MS;
    turned = at;
    for (const halves of routes.values()) {
      halves.before = forgetsAll ? createHistogram() : halves.now;
      halves.now = createHistogram();
    }
  }

  return {
    record(api, route, method, seconds) {
      turn();
      const key = `${api} ${method} ${route}`;
      let halves = routes.get(key);
      if (!halves) routes.set(key, (halves = { api, route, method, now: createHistogram(), before: createHistogram() }));
      halves.now.record(Math.max(1, Math.round(seconds * MICROSECONDS)));
    },
    slowest(limit) {
      turn();
      const all: RouteLatency[] = [];
      for (const { api, route, method, now: current, before } of routes.values()) {
        const both = createHistogram();
        both.add(current);
        both.add(before);
        if (both.count === 0) continue;
        const ms = (value: number) => value / 1000;
        all.push({ api, method, route, count: both.count, p50_ms: ms(both.percentile(50)), p95_ms: ms(both.percentile(95)), p99_ms: ms(both.percentile(99)), max_ms: ms(both.max) });
      }
      return all.toSorted((a, b) => b.p99_ms - a.p99_ms).slice(0, limit);
    },
  };
}
