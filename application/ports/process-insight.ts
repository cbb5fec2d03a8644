import type { JsonObject } from '../../domain/json.ts';

/** The latency of one declared route in this process. Times in milliseconds. */
export type RouteLatency = {
  readonly api: 'admin' | 'content';
  readonly method: string;
  readonly route: string;
  readonly count: number;
  readonly p50_ms: number;
  readonly p95_ms: number;
  readonly p99_ms: number;
  readonly max_ms: number;
};

export type RouteLatencies = {
  /** The slowest routes over the last 5 to 10 minutes, ordered by the 99th percentile. */
  slowest(limit: number): readonly RouteLatency[];
};

/** The garbage collector of this process. */
export type Collector = {
  /** Percentage by which the heap may grow between two collections; 0 means the engine's default. */
  growth(): number;
  setGrowth(percent: number): void;
  /** Heap statistics in bytes. */
  heap(): JsonObject;
};
