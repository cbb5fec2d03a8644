import type { JsonObject } from '../../domain/json.ts';

/** One declared route of this process. Times in milliseconds. */
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
  /** Slowest first by the 99th percentile, over the last 5 to 10 minutes. */
  slowest(limit: number): readonly RouteLatency[];
};

/** The garbage collector of this process. */
export type Collector = {
  /** How many percent the heap may grow between two collections; 0: as the engine decides. */
  growth(): number;
  setGrowth(percent: number): void;
  /** Numbers of the heap, in bytes. */
  heap(): JsonObject;
};
