import type { EventStore } from '../../application/ports/event-store.ts';
import { reasonOf } from '../../application/ports/transient-errors.ts';
import { refusal } from '../../domain/errors.ts';
import { type GlobalPosition, ORIGIN, type RecordedEvent } from '../../domain/event.ts';
import { categoryOf } from '../../domain/stream.ts';
import type { Database } from '../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../infrastructure/postgres/quote.ts';
import { applyOrPark } from './apply-or-park.ts';
import { applyUntil } from './apply-until.ts';
import { type TableDigest, digestTables } from './digest.ts';
import { MAX_PARKED } from './follower-options.ts';
import type { ParkedStream } from './parked-streams.ts';
import type { InTransaction, Projection } from './projection.ts';
import { createEmpty, namesOf, schemaExists } from './read-model-schemas.ts';

export type ReplayOptions = {
  /** Database to build the read models in; contains none of them yet. */
  readonly to: Database;
  readonly eventStore: Pick<EventStore, 'head' | 'subscribe'>;
  readonly projections: readonly Projection[];
  /** Last position, inclusive, or the latest recording time of events. Default: the current head. */
  readonly until?: GlobalPosition | Date;
  /** Only events of this tenant. */
  readonly tenant?: string;
  /** Maximum number of events in a batch. Default 2,000. */
  readonly maxBatch?: number;
  readonly onProgress?: (progress: ReplayProgress) => void;
  readonly signal?: AbortSignal;
};

export type ReplayProgress = {
  readonly position: GlobalPosition;
  readonly target: GlobalPosition;
  readonly events: number;
};

export type ReplayReport = {
  /** Position up to which the log was read. */
  readonly position: GlobalPosition;
  /** Events applied. */
  readonly events: number;
  readonly tables: readonly (TableDigest & { readonly projection: string })[];
  /** Streams that have an event that cannot be applied. The tables lack this event and the later ones of the stream. */
  readonly parked: readonly UnappliedStream[];
};

/** A stream that is applied up to the event before this revision. */
export type UnappliedStream = Pick<ParkedStream, 'projection' | 'stream' | 'revision' | 'reason'>;

/**
 * Builds read models from the log alone, up to any position or time, in a database without them. The log is read once
 * for all of them. The digests are comparable with those of live read models at the same position. As in a live read
 * model, an event that cannot be applied holds only its stream and those that depend on it.
 * @throws `bad_request` when the database already contains one of the read models; the error of an event that concerns
 *   all streams, or of the first event beyond `MAX_PARKED` streams
 */
export async function replay(options: ReplayOptions): Promise<ReplayReport> {
  const {
    to,
    eventStore,
    projections,
    until,
    tenant,
    maxBatch = 2_000,
    onProgress,
    signal = new AbortController().signal,
  } = options;
  await to.transaction(async (tx) => {
    for (const projection of projections) {
      const { live } = namesOf(projection);
      if (await schemaExists(tx, live))
        throw refusal('bad_request', { message: `the database to replay into already contains ${live}` });
      await createEmpty(tx, projection, { schema: live, bulk: true });
    }
  });

  const head = await eventStore.head();
  const target = typeof until === 'string' && until < head ? until : head;
  const latest = until instanceof Date ? until.getTime() : Infinity;
  const categories = [...new Set(projections.flatMap((projection) => projection.categories))];
  let applied = 0;
  const parked: UnappliedStream[] = [];
  const builds = projections.map((projection) => ({ projection, parked: new Map<string, GlobalPosition>() }));
  const position = await applyUntil({
    eventStore,
    filter: { categories, ...(tenant === undefined ? {} : { tenant }) },
    after: ORIGIN,
    until: target,
    maxBatch,
    signal,
    stopBefore: ({ recorded_at }) => Date.parse(recorded_at) > latest,
    tableOf: (event) =>
      projections.map((projection) => projection.tableOf?.(event)).find((table) => table !== undefined),
    // Without a checkpoint, an attempt with an unknown outcome cannot be retried.
    retry: false,
    async commit(events, { to: reached }) {
      await applyAll(to, { events, builds, onPark });
      applied += events.length;
      onProgress?.({ position: reached, target, events: applied });
    },
  });
  return { position, events: applied, tables: await finish(to, projections), parked };

  function onPark(stream: UnappliedStream, error: unknown): void {
    if (parked.length === MAX_PARKED) throw error;
    parked.push(stream);
  }
}

/** A read model that is built, with the position of the first event that is not applied, by stream. */
type Build = { readonly projection: Projection; readonly parked: Map<string, GlobalPosition> };

async function applyAll(
  to: Database,
  {
    events,
    builds,
    onPark,
  }: {
    readonly events: readonly RecordedEvent[];
    readonly builds: readonly Build[];
    readonly onPark: (stream: UnappliedStream, error: unknown) => void;
  },
): Promise<void> {
  if (events.length === 0) return;
  await to.transaction(
    async (tx) => {
      for (const { projection, parked } of builds) {
        const { name, categories } = projection;
        const target = { schema: quoteIdentifier(namesOf(projection).live), bulk: true };
        await applyOrPark(
          tx,
          { events: events.filter(({ stream }) => categories.includes(categoryOf(stream))), parked },
          {
            projection,
            apply: (part) => projection.apply(tx, target, part),
            park({ stream, revision }, error) {
              onPark({ projection: name, stream, revision, reason: reasonOf(error) }, error);
            },
          },
        );
      }
    },
    { synchronousCommit: false },
  );
}

async function finish(to: Database, projections: readonly Projection[]): Promise<ReplayReport['tables']> {
  const run: InTransaction = (work) => to.transaction(work, { synchronousCommit: false });
  for (const projection of projections) {
    const target = { schema: quoteIdentifier(namesOf(projection).live) };
    await projection.finish?.(run, target);
    await projection.afterSwap?.(run, target);
  }
  return to.transaction(async (tx) => {
    const tables: (TableDigest & { readonly projection: string })[] = [];
    for (const projection of projections) {
      const { live } = namesOf(projection);
      const digests = await digestTables(tx, { projection, schema: live });
      tables.push(...digests.map((table) => ({ ...table, projection: projection.name })));
    }
    return tables;
  });
}
