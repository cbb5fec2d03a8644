import { setTimeout as pause } from 'node:timers/promises';
import { isTransient } from '../../application/ports/transient-errors.ts';
import { refusal } from '../../domain/errors.ts';
import { type GlobalPosition, parsePosition } from '../../domain/event.ts';
import type { Database } from '../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../infrastructure/postgres/quote.ts';
import type { Projection } from './projection.ts';
import { lockSchemas, namesOf, schemaExists } from './schemas.ts';

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
 * Replaces the live schema with the rebuilt one, in one transaction. The lock on the live checkpoint blocks the live
 * projector before its commit; the new epoch then refuses its batch, which was written to the replaced tables.
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
  await database.transaction(
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
      const [taken] = await tx.query<{ epoch: number }>(
        `insert into operational.leases as l (name, owner, epoch, expires_at) values ($1, 'rebuild', 1, '-infinity')
       on conflict (name) do update set owner = excluded.owner, epoch = l.epoch + 1, expires_at = excluded.expires_at returning epoch`,
        [names.lease],
      );
      if (liveCheckpoint !== names.checkpoint)
        await tx.execute('delete from operational.checkpoints where name = $1', [liveCheckpoint]);
      await tx.execute(
        `insert into operational.checkpoints (name, position, epoch) values ($1, $2, $3)
       on conflict (name) do update set position = excluded.position, epoch = excluded.epoch, updated_at = clock_timestamp(), stopped_at = null, stopped_reason = null`,
        [names.checkpoint, rebuilt.position, taken?.epoch],
      );
      await tx.execute(
        'update operational.projections set version = $2, installed_at = clock_timestamp() where name = $1',
        [projection.name, projection.version],
      );

      if (await schemaExists(tx, names.old)) await tx.query(`drop schema ${quoteIdentifier(names.old)} cascade`);
      await tx.query(`alter schema ${quoteIdentifier(names.live)} rename to ${quoteIdentifier(names.old)}`);
      await tx.query(`alter schema ${quoteIdentifier(names.next)} rename to ${quoteIdentifier(names.live)}`);
      await projection.afterSwap?.(tx, { schema: quoteIdentifier(names.live) });
    },
    { idleTimeoutMs },
  );
}

/** Drops the replaced tables once no reader holds a lock on them. Gives up after five attempts. */
export async function dropOld(database: Database, projection: Projection): Promise<void> {
  const { old } = namesOf(projection);
  for (let attempt = 1; ; attempt += 1) {
    try {
      await database.transaction(async (tx) => {
        await tx.query(`set local lock_timeout to '2s'`);
        await lockSchemas(tx, projection.name);
        if (await schemaExists(tx, old)) await tx.query(`drop schema ${quoteIdentifier(old)} cascade`);
      });
      return;
    } catch (error) {
      // The next rebuild drops the remaining schema.
      if (!isTransient(error) || attempt === 5) return;
      await pause(100 * attempt);
    }
  }
}
