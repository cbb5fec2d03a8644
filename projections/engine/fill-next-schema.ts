import type { EventStore } from '../../application/ports/event-store.ts';
import { type GlobalPosition, ORIGIN } from '../../domain/event.ts';
import type { Database } from '../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../infrastructure/postgres/quote.ts';
import { applyUntil } from './apply-until.ts';
import { moveCheckpoint, readCheckpoint, takeCheckpoint } from './checkpoints.ts';
import type { Projection, Target } from './projection.ts';
import { createEmpty, lockSchemas, namesOf, schemaExists } from './schemas.ts';

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
  readonly source: Pick<EventStore, 'head' | 'subscribe'>;
  readonly projection: Projection;
  /** Epoch of the rebuild's lease. */
  readonly epoch: number;
  /** Maximum duration of an idle transaction, in milliseconds. */
  readonly idleTimeoutMs: number;
  readonly maxBatch?: number | undefined;
  readonly onProgress?: ((progress: RebuildProgress) => void) | undefined;
  readonly signal: AbortSignal;
};

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
 * Creates the empty schema, and stops an earlier rebuild whose process was frozen: it can no longer move the checkpoint,
 * so none of its batches commits.
 */
export async function openNextSchema({
  database,
  source,
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
  let target: Target = { schema: quoteIdentifier(names.next), bulk: true };
  await database.transaction(
    async (tx) => {
      await lockSchemas(tx, projection.name);
      const left = await takeCheckpoint(tx, { name: names.rebuild, epoch });
      if (left !== ORIGIN) await moveCheckpoint(tx, { name: names.rebuild, epoch, from: left, to: ORIGIN });
      await createEmpty(tx, projection, { schema: names.next, bulk: true });
    },
    { idleTimeoutMs },
  );

  return {
    position: () => position,
    async catchUpTo(until, phase) {
      position = await applyUntil({
        source,
        filter: { categories: projection.categories },
        after: position,
        until,
        signal,
        ...(maxBatch === undefined ? {} : { maxBatch }),
        async commit(batch, { from, to }) {
          await database.transaction(
            async (tx) => {
              // An earlier attempt may have committed although its response was lost with the connection.
              const reached = (await readCheckpoint(tx, names.rebuild))?.position;
              if (reached === to) return;
              if (batch.length > 0) await projection.apply(tx, target, batch);
              await moveCheckpoint(tx, { name: names.rebuild, epoch, from, to });
            },
            { synchronousCommit: false, idleTimeoutMs },
          );
          events += batch.length;
          position = to;
          onProgress?.({ projection: projection.name, phase, position, target: until, events });
        },
      });
      return position;
    },
    async finish() {
      target = { schema: target.schema };
      await database.transaction(
        async (tx) => {
          await moveCheckpoint(tx, { name: names.rebuild, epoch, from: position, to: position });
          await projection.finish?.(tx, target);
          // Autovacuum analyzes the tables only minutes later; until then lists would use bad plans.
          for (const { table } of await projection.tables(tx, target))
            await tx.query(`analyze ${target.schema}.${quoteIdentifier(table)}`);
        },
        { synchronousCommit: false, idleTimeoutMs },
      );
    },
    async drop() {
      await database.transaction(async (tx) => {
        await lockSchemas(tx, projection.name);
        await takeCheckpoint(tx, { name: names.rebuild, epoch });
        if (await schemaExists(tx, names.next)) await tx.query(`drop schema ${target.schema} cascade`);
      });
    },
  };
}
