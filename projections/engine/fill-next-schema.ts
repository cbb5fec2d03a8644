import type { EventStore } from '../../application/ports/event-store.ts';
import { reasonOf } from '../../application/ports/transient-errors.ts';
import { chunks } from '../../domain/chunks.ts';
import { type GlobalPosition, ORIGIN, type RecordedEvent, laterOf } from '../../domain/event.ts';
import type { Database, Transaction } from '../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../infrastructure/postgres/quote.ts';
import { applyUntil } from './apply-until.ts';
import { moveCheckpoint, readCheckpoint, takeCheckpoint } from './checkpoints.ts';
import { MAX_PARKED } from './follower-options.ts';
import {
  deleteParked,
  isOfOneStream,
  parkStream,
  positionsOf,
  readParked,
  waitsForParkedStream,
} from './parked-streams.ts';
import type { InTransaction, Projection, Target } from './projection.ts';
import { createEmpty, dropSchema, lockSchemas, namesOf } from './read-model-schemas.ts';
import { TABLES_PER_TRANSACTION } from './tables-per-transaction.ts';

export type RebuildProgress = {
  readonly projection: string;
  readonly phase: 'filling' | 'proving' | 'swapping';
  readonly position: GlobalPosition;
  readonly target: GlobalPosition;
  /** Events applied so far. */
  readonly events: number;
};

export type FillOptions = {
  readonly database: Database;
  readonly eventStore: Pick<EventStore, 'head' | 'subscribe'>;
  readonly projection: Projection;
  /** Epoch of the rebuild's lease. */
  readonly epoch: number;
  /** Maximum duration of an idle transaction, in milliseconds. */
  readonly idleTimeoutMs: number;
  readonly maxBatch?: number | undefined;
  readonly onProgress?: ((progress: RebuildProgress) => void) | undefined;
  readonly signal: AbortSignal;
};

type Move = { readonly from: GlobalPosition; readonly to: GlobalPosition };

/** The schema that a rebuild fills beside the live one. */
export type NextSchema = {
  /** Position up to which it is filled. */
  position(): GlobalPosition;
  /** Applies the events up to `until`. @returns the position reached */
  catchUpTo(until: GlobalPosition, phase: RebuildProgress['phase']): Promise<GlobalPosition>;
  /** Completes the bulk load; from here on the schema is written like a live one. */
  finish(): Promise<void>;
  /** Drops the schema. */
  drop(): Promise<void>;
};

/**
 * Creates the empty schema, and stops an earlier rebuild whose process was suspended: it can no longer move the
 * checkpoint, so none of its batches commits.
 */
export async function createNextSchema({
  database,
  eventStore,
  projection,
  epoch,
  idleTimeoutMs,
  maxBatch,
  onProgress,
  signal,
}: FillOptions): Promise<NextSchema> {
  const names = namesOf(projection);
  let position: GlobalPosition = ORIGIN;
  let events = 0;
  let parkedNow = 0;
  let target: Target = { schema: quoteIdentifier(names.next), bulk: true };
  /** Takes the checkpoint in each transaction, so that an earlier rebuild that continues late changes nothing. */
  const fenced: InTransaction = (work) =>
    database.transaction(
      async (tx) => {
        await lockSchemas(tx, projection.name);
        await takeCheckpoint(tx, { name: names.rebuild, epoch });
        return work(tx);
      },
      { idleTimeoutMs, workClass: 'unlimited' },
    );
  await dropSchema(fenced, names.next);
  await fenced(async (tx) => {
    const left = (await readCheckpoint(tx, names.rebuild))?.position ?? ORIGIN;
    if (left !== ORIGIN) await moveCheckpoint(tx, { name: names.rebuild, epoch, from: left, to: ORIGIN });
    await deleteParked(tx, names.rebuild);
    await createEmpty(tx, projection, { schema: names.next, bulk: true });
  });

  /** Applies the events that do not wait. Halves a batch that fails, until the event that fails is alone. */
  async function commit(batch: readonly RecordedEvent[], { from, to }: Move, failure?: unknown): Promise<void> {
    try {
      await database.transaction((tx) => write(tx, batch, { from, to }, failure), {
        synchronousCommit: false,
        idleTimeoutMs,
        workClass: 'unlimited',
      });
    } catch (error) {
      if (signal.aborted || failure !== undefined || batch.length === 0 || !isOfOneStream(error)) throw error;
      if (batch.length === 1) {
        if ((parkedNow += 1) > MAX_PARKED) throw error;
        await commit(batch, { from, to }, error);
        return;
      }
      const half = Math.floor(batch.length / 2);
      const middle = batch[half - 1]?.position ?? from;
      await commit(batch.slice(0, half), { from, to: middle });
      await commit(batch.slice(half), { from: middle, to });
    }
  }

  /** Parks the stream of the only event if `failure` is its error. */
  async function write(
    tx: Transaction,
    batch: readonly RecordedEvent[],
    { from, to }: Move,
    failure: unknown,
  ): Promise<void> {
    // An earlier attempt may have committed all or some of it although its response was lost with the connection.
    const reached = (await readCheckpoint(tx, names.rebuild))?.position ?? from;
    if (reached >= to) return;
    const parked = positionsOf(await readParked(tx, names.rebuild));
    const due = batch.filter((event) => event.position > reached && !waitsForParkedStream(event, parked, projection));
    const [first] = due;
    if (first && failure !== undefined)
      await parkStream(tx, {
        projection: names.rebuild,
        event: first,
        resumeAfter: laterOf(reached, from),
        reason: reasonOf(failure),
      });
    else if (first) await projection.apply(tx, target, due);
    await moveCheckpoint(tx, { name: names.rebuild, epoch, from: laterOf(reached, from), to });
  }

  return {
    position: () => position,
    async catchUpTo(until, phase) {
      position = await applyUntil({
        eventStore,
        filter: { categories: projection.categories },
        after: position,
        until,
        signal,
        ...(maxBatch === undefined ? {} : { maxBatch }),
        tableOf: (event) => projection.tableOf?.(event),
        async commit(batch, { from, to }) {
          await commit(batch, { from, to });
          events += batch.length;
          position = to;
          onProgress?.({ projection: projection.name, phase, position, target: until, events });
        },
      });
      return position;
    },
    async finish() {
      target = { schema: target.schema };
      const run: InTransaction = (work) =>
        database.transaction(
          async (tx) => {
            await moveCheckpoint(tx, { name: names.rebuild, epoch, from: position, to: position });
            return work(tx);
          },
          { synchronousCommit: false, idleTimeoutMs, workClass: 'unlimited' },
        );
      await projection.finish?.(run, target);
      // Autovacuum analyzes the tables only minutes later; until then lists would use bad plans.
      const tables = await run((tx) => projection.tables(tx, target));
      for (const chunk of chunks(tables, TABLES_PER_TRANSACTION)) {
        const names = chunk.map(({ table }) => `${target.schema}.${quoteIdentifier(table)}`);
        await run((tx) => tx.query(`analyze ${names.join(', ')}`));
      }
    },
    async drop() {
      await fenced((tx) => deleteParked(tx, names.rebuild));
      await dropSchema(fenced, names.next);
    },
  };
}
