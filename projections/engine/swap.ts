import { setTimeout as pause } from 'node:timers/promises';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { parsePosition } from '../../domain/event.ts';
import type { Database } from '../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../infrastructure/postgres/quote.ts';
import { isPassing } from './faults.ts';
import type { Projection } from './projection.ts';
import { lockSchemas, namesOf, schemaExists } from './schemas.ts';

export type SwapOptions = {
  readonly database: Database;
  readonly projection: Projection;
  /** Checkpoint of the version that is live. */
  readonly liveCheckpoint: string;
  readonly rebuildEpoch: number;
  /** The server gives the locks back when this process is silent for so long. */
  readonly idleTimeoutMs: number;
  /** Brings the rebuilt schema to the position (or leaves it later). @returns where it is */
  readonly catchUp: (until: GlobalPosition) => Promise<GlobalPosition>;
};

/**
 * Puts the rebuilt schema in the live one's place, in one transaction. The lock on the live checkpoint holds its projector back before
 * its commit; the new epoch then refuses what it had in hand, because that was written to the tables that went.
 * @throws `lease_lost` when another rebuild has begun
 */
export async function swap({ database, projection, liveCheckpoint, rebuildEpoch, idleTimeoutMs, catchUp }: SwapOptions): Promise<void> {
  const names = namesOf(projection);
  await database.transaction(async (tx) => {
    await lockSchemas(tx, projection.name);
    const [live] = await tx.query<{ position: string }>('select position from operational.checkpoints where name = $1 for update', [liveCheckpoint]);
    const behind = parsePosition(live?.position ?? '');
    if (behind) await catchUp(behind);

    const [rebuilt] = await tx.query<{ position: string }>('delete from operational.checkpoints where name = $1 and epoch = $2 returning position', [names.rebuild, rebuildEpoch]);
    if (!rebuilt) throw refusal('lease_lost');
    const [taken] = await tx.query<{ epoch: number }>(
      `insert into operational.leases as l (name, owner, epoch, expires_at) values ($1, 'rebuild', 1, '-infinity')
       on conflict (name) do update set owner = excluded.owner, epoch = l.epoch + 1, expires_at = excluded.expires_at returning epoch`,
      [names.lease],
    );
    if (liveCheckpoint !== names.checkpoint) await tx.execute('delete from operational.checkpoints where name = $1', [liveCheckpoint]);
    await tx.execute(
      `insert into operational.checkpoints (name, position, epoch) values ($1, $2, $3)
       on conflict (name) do update set position = excluded.position, epoch = excluded.epoch, updated_at = clock_timestamp(), stopped_at = null, stopped_reason = null`,
      [names.checkpoint, rebuilt.position, taken?.epoch],
    );
    await tx.execute('update operational.projections set version = $2, installed_at = clock_timestamp() where name = $1', [projection.name, projection.version]);

    if (await schemaExists(tx, names.old)) await tx.query(`drop schema ${quoteIdentifier(names.old)} cascade`);
    await tx.query(`alter schema ${quoteIdentifier(names.live)} rename to ${quoteIdentifier(names.old)}`);
    await tx.query(`alter schema ${quoteIdentifier(names.next)} rename to ${quoteIdentifier(names.live)}`);
    await projection.afterSwap?.(tx, { schema: quoteIdentifier(names.live) });
  }, { idleTimeoutMs });
}

/** Drops the tables that were replaced, once the last reader has let go of them. */
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
      // What is left is dropped by the next rebuild.
      if (!isPassing(error) || attempt === 5) return;
      await pause(100 * attempt);
    }
  }
}
