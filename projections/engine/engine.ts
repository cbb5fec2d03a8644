import { setTimeout as pause } from 'node:timers/promises';
import { hasCode } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { ORIGIN, laterOf } from '../../domain/event.ts';
import type { Database } from '../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../infrastructure/postgres/quote.ts';
import type { EventSource, FollowerLogger, FollowerMetrics, FollowerTracing, LeaseSource, SignalBus } from './collaborators.ts';
import { isPassing, reasonOf } from './faults.ts';
import type { Follower, FollowerStatus, FollowerStop } from './follower.ts';
import { startFollower } from './follower.ts';
import { trackProgress } from './progress.ts';
import type { Projection, ProjectionProgress } from './projection.ts';
import { rebuild } from './rebuild.ts';
import { installedVersion, namesOf, prepareSchema } from './schemas.ts';

export type ProjectionEngineOptions = {
  readonly database: Database;
  readonly source: EventSource;
  readonly projections: readonly Projection[];
  readonly leases: LeaseSource;
  readonly signals: SignalBus;
  readonly logger: FollowerLogger;
  readonly metrics?: FollowerMetrics;
  readonly tracing?: FollowerTracing | undefined;
  /** Names this process in logs. */
  readonly instanceId: string;
  /** Most events of a batch. Default 2,000. */
  readonly maxBatch?: number;
  /** How often checkpoints are read while somebody waits. Default 250. */
  readonly pollMs?: number;
  /** How often a checkpoint over filtered-out events is written down. Default 1,000. */
  readonly persistEveryMs?: number;
};

export type ProjectionStatus = {
  readonly name: string;
  readonly version: number;
  /** `idle`: this process runs no projectors; the others as a follower's, and `rebuilding` while another version is replaced. */
  readonly state: FollowerStatus['state'] | 'idle' | 'rebuilding';
  readonly position: GlobalPosition;
  readonly epoch?: number;
  readonly stop?: FollowerStop;
};

export type ProjectionEngine = {
  /** Creates missing schemas. Every process, before it answers; several at once are safe. */
  prepare(): Promise<void>;
  /** Runs the projectors (role `projector`); read models of another version are rebuilt first, the old ones answer meanwhile. */
  start(): void;
  /** Finishes batches, writes checkpoints down, leaves leases; ends waits. */
  stop(): Promise<void>;
  /** Works in every process, whether or not it runs projectors. */
  readonly progress: ProjectionProgress;
  status(): readonly ProjectionStatus[];
};

/** The read models of this process: their schemas, projectors, progress and health (spec 5, rules 6, 7 and 15). */
export function createProjectionEngine(options: ProjectionEngineOptions): ProjectionEngine {
  const { database, source, projections, leases, signals, logger, metrics, instanceId } = options;
  const progress = trackProgress({ database, signals, ...(options.pollMs === undefined ? {} : { pollMs: options.pollMs }) });
  const stopping = new AbortController();
  const running: Promise<void>[] = [];
  const followers = new Map<string, Follower>();
  const before = new Map<string, { readonly state: 'rebuilding' | 'retrying' | 'stopped'; readonly stop?: FollowerStop }>();

  function follow(projection: Projection): Follower {
    const names = namesOf(projection);
    const target = { schema: quoteIdentifier(names.live) };
    return startFollower({
      name: names.checkpoint,
      lease: names.lease,
      source,
      filter: { categories: projection.categories },
      leases,
      database,
      handler: { kind: 'inside', handle: (events, tx) => projection.apply(tx, target, events) },
      async guard(tx) {
        const installed = await installedVersion(tx, projection.name);
        if (installed !== projection.version) throw new Error(`version ${String(installed)} of the read model is installed, this process has version ${String(projection.version)}`);
      },
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

  async function renew(projection: Projection): Promise<void> {
    before.set(projection.name, { state: 'rebuilding' });
    const report = await rebuild({ database, source, projection, leases, signals, logger, onlyOutdated: true, signal: stopping.signal });
    if (report.outcome !== 'current') logger.info('read model rebuilt for its version', { projection: projection.name, version: projection.version, instance: instanceId });
  }

  const told = (): boolean => stopping.signal.aborted;

  async function run(projection: Projection): Promise<void> {
    for (let failures = 0; !told(); failures += 1) {
      try {
        if ((await prepareSchema(database, projection)) === 'outdated') await renew(projection);
        break;
      } catch (error) {
        if (told()) return;
        const passing = isPassing(error) || hasCode(error, 'lease_lost');
        logger.error('read model not rebuilt', { projection: projection.name, reason: reasonOf(error) });
        if (!passing) {
          before.set(projection.name, { state: 'stopped', stop: { reason: reasonOf(error), at: ORIGIN } });
          metrics?.followerStopped?.(namesOf(projection).checkpoint, true);
          progress.stopped(projection.name);
          return;
        }
        before.set(projection.name, { state: 'retrying' });
        await pause(Math.min(100 * 2 ** failures, 10_000), undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
    if (!told()) followers.set(projection.name, follow(projection));
  }

  return {
    async prepare() {
      for (const projection of projections) await prepareSchema(database, projection);
    },
    start() {
      if (running.length > 0) return;
      running.push(...projections.map(run));
    },
    async stop() {
      stopping.abort(new Error('the projection engine was told to stop'));
      await Promise.all(running);
      await Promise.all([...followers.values()].map((follower) => follower.stop()));
      progress.close();
    },
    progress,
    status: () =>
      projections.map(({ name, version }) => {
        const follower = followers.get(name)?.status();
        const position = laterOf(progress.position(name), follower?.position ?? ORIGIN);
        if (follower) return { ...follower, name, version, position };
        return { name, version, position, ...(before.get(name) ?? { state: 'idle' as const }) };
      }),
  };
}
