import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Metrics } from '../../application/ports/metrics.ts';

const PREFIX = 'palimpsest_';
const FAST = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Shorter failures are not reported as a degraded state, in milliseconds. */
const RETRYING_MS = 10_000;

export type ProcessMetrics = Metrics & {
  /** All metrics in the text format of Prometheus. */
  text(): Promise<string>;
  readonly contentType: string;
  /** Adds metrics that are read from the sources at each scrape. Call it once. */
  watch(sources: WatchedSources): void;
  /** The followers that have repeated their work without success for 10 seconds or longer. */
  retryingFollowers(): readonly string[];
  close(): void;
};

export type PoolNumbers = { readonly totalCount: number; readonly idleCount: number; readonly waitingCount: number };

/** Sources of metrics that are read at each scrape. */
export type WatchedSources = {
  /** Connection pools by the value of their label. */
  readonly pools?: Readonly<Record<string, PoolNumbers>>;
  /** Returns the number of API key request records dropped since the start. */
  readonly droppedKeyRequests?: () => number;
  /** Returns the number of appends that wait for the event store. */
  readonly queuedAppends?: (() => number) | undefined;
  /** Returns the number of reads since the start by outcome: answered by the replica, or by the primary instead. */
  readonly replicaReads?: (() => Readonly<Record<string, number>>) | undefined;
  /** Returns the number of parked streams by projection. Its errors leave the metric out. */
  readonly parkedStreams?: () => Promise<ReadonlyMap<string, number>>;
};

/**
 * Opens the metrics of this process for Prometheus, all named `palimpsest_…`, in a registry of their own. Labels have
 * few values: routes are labelled by their declaration, not by the requested path; tenants and ids are not labels.
 */
export function openMetrics(): ProcessMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: PREFIX });

  const http = new Histogram({
    name: `${PREFIX}http_request_duration_seconds`,
    help: 'Time from a request to its response.',
    labelNames: ['api', 'route', 'method', 'status'],
    buckets: FAST,
    registers,
  });
  const append = new Histogram({
    name: `${PREFIX}append_duration_seconds`,
    help: 'Time of one append to the event store.',
    labelNames: ['outcome'],
    buckets: FAST,
    registers,
  });
  const projectionLag = new Gauge({
    name: `${PREFIX}projection_lag_seconds`,
    help: 'Lag of a follower behind the head of the log.',
    labelNames: ['follower'],
    registers,
  });
  const relayLag = new Gauge({
    name: `${PREFIX}relay_lag_seconds`,
    help: 'Lag of the relay behind the head of the log.',
    registers,
  });
  const batch = new Histogram({
    name: `${PREFIX}batch_duration_seconds`,
    help: 'Time of one batch of a follower of the log.',
    labelNames: ['follower'],
    buckets: FAST,
    registers,
  });
  const events = new Counter({
    name: `${PREFIX}events_applied_total`,
    help: 'Events applied by a follower of the log.',
    labelNames: ['follower'],
    registers,
  });
  const stopped = new Gauge({
    name: `${PREFIX}follower_stopped`,
    help: '1 while a follower of the log is stopped at an event that it cannot handle.',
    labelNames: ['follower'],
    registers,
  });
  const auditStopped = new Gauge({
    name: `${PREFIX}audit_chains_stopped`,
    help: 'Audit chains that are not extended, because they were changed by something other than the service.',
    registers,
  });
  const deadLetters = new Counter({
    name: `${PREFIX}dead_letters_total`,
    help: 'Events and messages written to a dead-letter topic, by their original topic.',
    labelNames: ['topic'],
    registers,
  });
  const stubs = new Counter({
    name: `${PREFIX}relay_stubs_total`,
    help: 'Messages that the relay published without their data, because the topic does not take them.',
    labelNames: ['topic', 'reason'],
    registers,
  });
  const compensations = new Counter({
    name: `${PREFIX}compensations_total`,
    help: 'Writes that were refused after they were stored. `failed`: no event took the write back.',
    labelNames: ['outcome'],
    registers,
  });
  const queue = new Gauge({
    name: `${PREFIX}queue_depth`,
    help: 'Rows waiting in a queue.',
    labelNames: ['queue'],
    registers,
  });
  const delivery = new Histogram({
    name: `${PREFIX}delivery_duration_seconds`,
    help: 'Time of an outgoing delivery, by kind and outcome.',
    labelNames: ['kind', 'outcome'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });

  /** When each follower that retries failed first. */
  const retryingSince = new Map<string, number>();

  return {
    requestFinished: (api, route, method, status, seconds) => {
      http.labels(api, route, method, String(status)).observe(seconds);
    },
    appendFinished: (outcome, seconds) => {
      append.labels(outcome).observe(seconds);
    },
    lag: (follower, seconds) => {
      if (follower === 'relay') relayLag.set(seconds);
      else projectionLag.labels(follower).set(seconds);
    },
    followerLeft: (follower) => {
      if (follower === 'relay') relayLag.remove();
      else projectionLag.remove(follower);
    },
    batchApplied: (follower, count, seconds) => {
      batch.labels(follower).observe(seconds);
      events.labels(follower).inc(count);
    },
    followerStopped: (follower, isStopped) => {
      stopped.labels(follower).set(isStopped ? 1 : 0);
    },
    followerRetries: (follower, isRetrying) => {
      if (!isRetrying) retryingSince.delete(follower);
      else if (!retryingSince.has(follower)) retryingSince.set(follower, performance.now());
    },
    retryingFollowers: () =>
      [...retryingSince].filter(([, since]) => performance.now() - since >= RETRYING_MS).map(([follower]) => follower),
    auditChainsStopped: (count) => {
      auditStopped.set(count);
    },
    deadLettered: (topic) => {
      deadLetters.labels(topic).inc();
    },
    stubPublished: (topic, reason) => {
      stubs.labels(topic, reason).inc();
    },
    compensated: (isTakenBack) => {
      compensations.labels(isTakenBack ? 'taken_back' : 'failed').inc();
    },
    queueDepth: (name, depth) => {
      queue.labels(name).set(depth);
    },
    delivery: (kind, outcome, seconds) => {
      delivery.labels(kind, outcome).observe(seconds);
    },
    watch: (sources) => {
      watchSources(sources, registers);
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
    close: () => {
      registry.clear();
    },
  };
}

function watchSources(
  { pools = {}, droppedKeyRequests, queuedAppends, replicaReads, parkedStreams }: WatchedSources,
  registers: Registry[],
): void {
  const states = { total: 'totalCount', idle: 'idleCount', waiting: 'waitingCount' } as const;
  for (const [state, help] of [
    ['total', 'Open connections of a pool.'],
    ['idle', 'Idle connections of a pool.'],
    ['waiting', 'Callers that wait for a connection of a pool.'],
  ] as const) {
    new Gauge({
      name: `${PREFIX}pool_${state}`,
      help,
      labelNames: ['pool'],
      registers,
      collect() {
        for (const [name, pool] of Object.entries(pools)) this.labels(name).set(pool[states[state]]);
      },
    });
  }
  if (droppedKeyRequests) {
    new Counter({
      name: `${PREFIX}key_requests_dropped_total`,
      help: 'Records of requests by API keys that were dropped because too many waited.',
      registers,
      collect() {
        this.reset();
        this.inc(droppedKeyRequests());
      },
    });
  }
  if (parkedStreams) {
    new Gauge({
      name: `${PREFIX}parked_streams`,
      help: 'Streams that wait because a projection cannot apply one of their events.',
      labelNames: ['follower'],
      registers,
      async collect() {
        const counts = await parkedStreams().catch(() => new Map<string, number>());
        this.reset();
        for (const [follower, count] of counts) this.labels(follower).set(count);
      },
    });
  }
  if (replicaReads) {
    new Counter({
      name: `${PREFIX}replica_reads_total`,
      help: 'Reads answered by the replica, or by the primary because the replica was behind, unreachable or refused the statement.',
      labelNames: ['outcome'],
      registers,
      collect() {
        this.reset();
        for (const [outcome, count] of Object.entries(replicaReads())) this.labels(outcome).inc(count);
      },
    });
  }
  if (queuedAppends) {
    new Gauge({
      name: `${PREFIX}append_queue_depth`,
      help: 'Appends that wait for the event store.',
      registers,
      collect() {
        this.set(queuedAppends());
      },
    });
  }
}
