import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../../application/ports/logger.ts';
import { isTransient, reasonOf } from '../../application/ports/transient-errors.ts';
import { refusal } from '../../domain/errors.ts';
import { type GlobalPosition, parsePosition } from '../../domain/event.ts';
import type { Database, Transaction } from '../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../infrastructure/postgres/quote.ts';
import { deleteParked } from './parked-streams.ts';
import type { Projection } from './projection.ts';
import { dropSchema, lockSchemas, namesOf, schemaExists, underSchemaLock } from './read-model-schemas.ts';

export type SwapOptions = {
  readonly database: Database;
  readonly projection: Projection;
  /** Checkpoint of the live version. */
  readonly liveCheckpoint: string;
  readonly rebuildEpoch: number;
  /** The server releases the locks when this process sends nothing for this long, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** Brings the rebuilt schema to the position or a later one. @returns its position */
  readonly catchUp: (until: GlobalPosition) => Promise<GlobalPosition>;
};

/**
 * Replaces the live schema with the rebuilt one by renaming both, in one transaction; `completeSwap` must have dropped
 * the schema that an earlier swap replaced. The lock on the live checkpoint blocks the live projector before its
 * commit; the new epoch then refuses its batch, which was written to the replaced tables.
 * @throws `lease_lost` when another rebuild has started
 */
export async function swap({
  database,
  projection,
  liveCheckpoint,
  rebuildEpoch,
  idleTimeoutMs,
  catchUp,
}: SwapOptions): Promise<void> {
  const names = namesOf(projection);
  await database.outerTransaction(
    async (tx) => {
      await lockSchemas(tx, projection.name);
      const [live] = await tx.query<{ position: string }>(
        'select position from operational.checkpoints where name = $1 for update',
        [liveCheckpoint],
      );
      const behind = parsePosition(live?.position ?? '');
      if (behind) await catchUp(behind);

      const [rebuilt] = await tx.query<{ position: string }>(
        'delete from operational.checkpoints where name = $1 and epoch = $2 returning position',
        [names.rebuild, rebuildEpoch],
      );
      if (!rebuilt) throw refusal('lease_lost');
      const epoch = await fenceProjector(tx, names.lease, 'rebuild');
      await deleteParked(tx, liveCheckpoint);
      await deleteParked(tx, names.checkpoint);
      await tx.execute('update operational.parked_streams set projection = $2 where projection = $1', [
        names.rebuild,
        names.checkpoint,
      ]);
      if (liveCheckpoint !== names.checkpoint)
        await tx.execute('delete from operational.checkpoints where name = $1', [liveCheckpoint]);
      await tx.execute(
        `insert into operational.checkpoints (name, position, epoch) values ($1, $2, $3)
       on conflict (name) do update
         set position = excluded.position, epoch = excluded.epoch, updated_at = clock_timestamp(), stopped_at = null,
         stopped_reason = null`,
        [names.checkpoint, rebuilt.position, epoch],
      );
      await tx.execute(
        `update operational.projections set version = $2, served_from = null, installed_at = clock_timestamp()
         where name = $1`,
        [projection.name, projection.version],
      );

      await tx.query(`alter schema ${quoteIdentifier(names.live)} rename to ${quoteIdentifier(names.old)}`);
      await tx.query(`alter schema ${quoteIdentifier(names.next)} rename to ${quoteIdentifier(names.live)}`);
    },
    { idleTimeoutMs, workClass: 'unlimited' },
  );
}

/**
 * Takes the lease from the projector and frees it. The caller writes the epoch to the checkpoint, so that the projector
 * cannot commit its current batch and begins again under a new lease. @returns the epoch
 */
export async function fenceProjector(tx: Transaction, lease: string, owner: 'rebuild' | 'retry'): Promise<number> {
  const [row] = await tx.query<{ epoch: number }>(
    `insert into operational.leases as l (name, owner, epoch, expires_at) values ($1, $2, 1, '-infinity')
     on conflict (name) do update set owner = excluded.owner, epoch = l.epoch + 1, expires_at = excluded.expires_at
       returning epoch`,
    [lease, owner],
  );
  if (!row) throw refusal('lease_lost');
  return row.epoch;
}

/** Number of attempts at each transaction of `completeSwap`. */
const ATTEMPTS = 5;

export type CompleteSwapOptions = {
  readonly database: Database;
  readonly projection: Projection;
  readonly logger?: Pick<Logger, 'warn'> | undefined;
};

/**
 * Completes a swap: runs `afterSwap`, then drops the replaced schema. Does nothing when there is no replaced schema.
 * The caller has the lease of the rebuild. The process that has swapped may have died, so the next start and the next
 * rebuild complete its swap. Tables that readers keep locked stay until then, and a warning is logged.
 * @returns whether the replaced schema is gone
 */
export async function completeSwap({ database, projection, logger }: CompleteSwapOptions): Promise<boolean> {
  const { live, old } = namesOf(projection);
  if (!(await schemaExists(database, old))) return true;
  const underLock = underSchemaLock(database, projection.name);
  await projection.afterSwap?.((work) => repeated(() => underLock(work)), { schema: quoteIdentifier(live) });
  try {
    await dropSchema(
      (work) =>
        repeated(() =>
          underLock(async (tx) => {
            await tx.query(`set local lock_timeout to '2s'`);
            return work(tx);
          }),
        ),
      old,
    );
    return true;
  } catch (error) {
    logger?.warn('the replaced tables could not be dropped', { projection: projection.name, reason: reasonOf(error) });
    return false;
  }
}

async function repeated<T>(attempt: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!isTransient(error) || failures === ATTEMPTS) throw error;
      await pause(100 * failures);
    }
  }
}
