import { stoppablePause } from '../../application/concurrency/stoppable-pause.ts';
import type { EventStore } from '../../application/ports/event-store.ts';
import type { Leases } from '../../application/ports/leases.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Metrics } from '../../application/ports/metrics.ts';
import type { ProjectionProgress } from '../../application/ports/projection-progress.ts';
import type { Signals } from '../../application/ports/signals.ts';
import { isServerLimit, isTransient, reasonOf } from '../../application/ports/transient-errors.ts';
import { hasCode } from '../../domain/errors.ts';
import { type GlobalPosition, ORIGIN, laterOf } from '../../domain/event.ts';
import type { Database } from '../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../infrastructure/postgres/quote.ts';
import type { FollowerTracing } from './follower-options.ts';
import { type Follower, type FollowerStatus, type FollowerStop, startFollower } from './follower.ts';
import { type ParkedStream, countParked, readParked } from './parked-streams.ts';
import { trackProgress } from './progress.ts';
import type { Projection } from './projection.ts';
import { installedVersion, namesOf, prepareSchema, schemaExists } from './read-model-schemas.ts';
import { type UnservedReadModel, createReadModelVersions } from './read-model-versions.ts';
import { rebuild } from './rebuild.ts';
import { type RetryOutcome, retryParked } from './retry-parked.ts';

export type ProjectionEngineOptions = {
  readonly database: Database;
  readonly eventStore: Pick<EventStore, 'head' | 'subscribe'>;
  readonly projections: readonly Projection[];
  readonly leases: Leases;
  readonly signals: Pick<Signals, 'publish' | 'subscribe'>;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly metrics?: Pick<Metrics, 'lag' | 'followerLeft' | 'batchApplied' | 'followerStopped'>;
  readonly tracing?: FollowerTracing | undefined;
  /** Name of this process in logs. */
  readonly instanceId: string;
  /** Maximum number of events in a batch. Default 2,000. */
  readonly maxBatch?: number;
  /** Interval in milliseconds at which checkpoints are read while a caller waits. Default 250. */
  readonly pollMs?: number;
  /** Interval in milliseconds at which a checkpoint that only passed filtered-out events is saved. Default 1,000. */
  readonly persistEveryMs?: number;
};

export type ProjectionStatus = {
  readonly name: string;
  readonly version: number;
  /**
   * `idle`: this process runs no projectors. `rebuilding`: a read model of an earlier version is being replaced.
   * `replaced`: another process has installed another version. Otherwise the follower's state.
   */
  readonly state: FollowerStatus['state'] | 'idle' | 'rebuilding';
  readonly position: GlobalPosition;
  readonly epoch?: number;
  readonly stop?: FollowerStop;
};

export type ProjectionEngine = {
  /** Creates missing schemas. Every process calls it before it serves requests; concurrent calls are safe. */
  prepare(): Promise<void>;
  /**
   * Starts the projectors (role `projector`). A read model of an earlier version is rebuilt first; processes of that
   * version keep it up to date and answer from it meanwhile. A read model of a later version, or one that another
   * process replaces, is left alone until its version is installed again: two builds must not replace each other's.
   */
  start(): void;
  /** Finishes the current batches, saves checkpoints, releases leases and ends waits. */
  stop(): Promise<void>;
  /** Works in every process, with or without projectors. */
  readonly progress: ProjectionProgress;
  status(): readonly ProjectionStatus[];
  /** The read models that this process must not serve. Works in every process. */
  unserved(): Promise<readonly UnservedReadModel[]>;
  /** The parked streams of all read models, in the order of the log. */
  parked(): Promise<readonly ParkedStream[]>;
  /** Number of parked streams by name of the checkpoint, for example `projection/content/2`. */
  countParked(): Promise<ReadonlyMap<string, number>>;
  /**
   * Applies the events of one parked stream and those that wait for it. Works in every process.
   * @throws `unavailable` while the read model has another version
   */
  retryParked(parked: Pick<ParkedStream, 'projection' | 'stream'>): Promise<RetryOutcome>;
};

/**
 * Number of consecutive failures at a limit of the server, such as the number of locks, after which a read model is not
 * built by this process any more: the same work meets the same limit again unless other sessions had used it up.
 */
const MAX_LIMIT_FAILURES = 3;

/** Interval in milliseconds at which a replaced projector looks whether its version is installed again. */
const REPLACED_PAUSE_MS = 2_000;

/** Creates the engine of this process's read models: schemas, projectors, progress and status. */
export function createProjectionEngine(options: ProjectionEngineOptions): ProjectionEngine {
  const { database, eventStore, projections, leases, signals, logger, metrics, instanceId } = options;
  const progress = trackProgress({
    database,
    signals,
    ...(options.pollMs === undefined ? {} : { pollMs: options.pollMs }),
  });
  const stopping = new AbortController();
  const pause = stoppablePause(stopping.signal);
  const running: Promise<void>[] = [];
  const followers = new Map<string, Follower>();
  const startupStates = new Map<
    string,
    { readonly state: 'rebuilding' | 'replaced' | 'retrying' | 'stopped'; readonly stop?: FollowerStop }
  >();
  const readVersions = createReadModelVersions(projections);

  function follow(projection: Projection): Follower {
    const names = namesOf(projection);
    const target = { schema: quoteIdentifier(names.live) };
    return startFollower({
      name: names.checkpoint,
      lease: names.lease,
      eventStore,
      filter: { categories: projection.categories },
      tableOf: (event) => projection.tableOf?.(event),
      leases,
      database,
      handler: { kind: 'inside', handle: (events, tx) => projection.apply(tx, target, events) },
      parking: projection,
      isCurrent: async (tx) => (await installedVersion(tx, projection.name)) === projection.version,
      onMove(position, how, applied) {
        progress.moved(projection.name, position, how, applied);
      },
      onStop() {
        progress.stopped(projection.name);
      },
      logger,
      ...(metrics ? { metrics } : {}),
      tracing: options.tracing,
      ...(options.maxBatch === undefined ? {} : { maxBatch: options.maxBatch }),
      ...(options.persistEveryMs === undefined ? {} : { persistEveryMs: options.persistEveryMs }),
    });
  }

  async function rebuildOutdated(projection: Projection): Promise<void> {
    startupStates.set(projection.name, { state: 'rebuilding' });
    const report = await rebuild({
      database,
      eventStore,
      projection,
      leases,
      signals,
      logger,
      onlyOutdated: true,
      signal: stopping.signal,
    });
    if (report.outcome !== 'current')
      logger.info('a read model was rebuilt for its version', {
        projection: projection.name,
        version: projection.version,
        instance: instanceId,
      });
  }

  const isStopping = (): boolean => stopping.signal.aborted;

  /** Waits while another version is installed that this process must not replace. @returns undefined when stopping */
  async function waitUntilReplaceable(
    projection: Projection,
    wasInstalled: boolean,
  ): Promise<'ready' | 'outdated' | undefined> {
    const { name, version } = projection;
    for (let isFirst = true; ; isFirst = false) {
      const state = await prepareSchema(database, projection, await eventStore.head());
      if (state === 'ready' || (state === 'outdated' && !wasInstalled)) return state;
      if (isFirst) logger.warn('a read model was replaced by another version', { projection: name, version });
      startupStates.set(name, { state: 'replaced' });
      if (!(await pause(REPLACED_PAUSE_MS))) return undefined;
    }
  }

  /** Builds the read model in this version if it is outdated. @returns false when it cannot be followed */
  async function install(projection: Projection, wasInstalled: boolean): Promise<boolean> {
    let limits = 0;
    for (let failures = 0; !isStopping(); failures += 1) {
      try {
        const state = await waitUntilReplaceable(projection, wasInstalled);
        if (state === undefined) return false;
        // The replaced schema is left when a process ended during a swap; `rebuild` completes the swap.
        if (state === 'outdated' || (await schemaExists(database, namesOf(projection).old)))
          await rebuildOutdated(projection);
        return true;
      } catch (error) {
        if (isStopping()) return false;
        limits = isServerLimit(error) ? limits + 1 : 0;
        const transient = (isTransient(error) && limits < MAX_LIMIT_FAILURES) || hasCode(error, 'lease_lost');
        logger.error('a read model could not be rebuilt', { projection: projection.name, reason: reasonOf(error) });
        if (!transient) {
          startupStates.set(projection.name, { state: 'stopped', stop: { reason: reasonOf(error), position: ORIGIN } });
          metrics?.followerStopped?.(namesOf(projection).checkpoint, true);
          progress.stopped(projection.name);
          return false;
        }
        startupStates.set(projection.name, {
          state: 'retrying',
          stop: { reason: reasonOf(error), position: progress.position(projection.name) },
        });
        await pause(Math.min(100 * 2 ** failures, 10_000));
      }
    }
    return false;
  }

  async function run(projection: Projection): Promise<void> {
    let wasInstalled = false;
    while (!isStopping() && (await install(projection, wasInstalled)) && !isStopping()) {
      wasInstalled = true;
      const follower = follow(projection);
      followers.set(projection.name, follower);
      await follower.ended;
      if (follower.status().state !== 'replaced') return;
      startupStates.set(projection.name, { state: 'replaced' });
      followers.delete(projection.name);
    }
  }

  return {
    async prepare() {
      const head = await eventStore.head();
      for (const projection of projections) await prepareSchema(database, projection, head);
    },
    start() {
      if (running.length > 0) return;
      running.push(...projections.map(run));
    },
    async stop() {
      stopping.abort(new Error('the projection engine was stopped'));
      await Promise.all([...followers.values()].map((follower) => follower.stop()));
      await Promise.all(running);
      progress.close();
    },
    progress,
    parked: () => readParked(database),
    countParked: () => countParked(database),
    unserved: () => readVersions(database),
    async retryParked({ projection: name, stream }) {
      const projection = projections.find((one) => namesOf(one).checkpoint === name);
      if (!projection) return 'not_parked';
      const outcome = await retryParked({ database, eventStore, projection, stream, signal: stopping.signal });
      if (outcome === 'not_parked') return outcome;
      signals.publish('lease', namesOf(projection).lease);
      if (outcome === 'applied') logger.info('a stream is no longer parked', { follower: name, stream });
      return outcome;
    },
    status: () =>
      projections.map(({ name, version }) => {
        const follower = followers.get(name)?.status();
        const position = laterOf(progress.position(name), follower?.position ?? ORIGIN);
        if (follower) return { ...follower, name, version, position };
        return { name, version, position, ...(startupStates.get(name) ?? { state: 'idle' as const }) };
      }),
  };
}
