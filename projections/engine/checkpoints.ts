import { refusal } from '../../domain/errors.ts';
import { type GlobalPosition, ORIGIN, parsePosition } from '../../domain/event.ts';
import type { Queryable } from '../../infrastructure/postgres/database.ts';

/** A move of a follower's checkpoint: a compare-and-set on the position, fenced by the epoch of the lease. */
export type CheckpointMove = {
  readonly name: string;
  readonly epoch: number;
  readonly from: GlobalPosition;
  readonly to: GlobalPosition;
};

export type Checkpoint = {
  readonly position: GlobalPosition;
  /** Why the follower stopped, and the event that it could not apply. */
  readonly stopped?: { readonly reason: string; readonly at: GlobalPosition };
};

/**
 * Sets the checkpoint's epoch to that of a new lease, so that no earlier holder can move it; creates a missing
 * checkpoint at `start`. Clears a recorded stop: the new holder tries the event again.
 * @throws `lease_lost` when a later holder has the checkpoint
 */
export async function takeCheckpoint(
  queryable: Queryable,
  { name, epoch, start = ORIGIN }: { readonly name: string; readonly epoch: number; readonly start?: GlobalPosition },
): Promise<GlobalPosition> {
  const [row] = await queryable.query<{ position: string }>(
    `insert into operational.checkpoints as c (name, position, epoch) values ($1, $2, $3)
     on conflict (name) do update set epoch = excluded.epoch, stopped_at = null, stopped_reason = null
       where c.epoch <= excluded.epoch
     returning position`,
    [name, start, epoch],
  );
  if (!row) throw refusal('lease_lost');
  return readPosition(row.position);
}

/**
 * Moves the checkpoint, in the transaction that writes the rows up to it. @throws `lease_lost` when another holder has
 * the checkpoint
 */
export async function moveCheckpoint(queryable: Queryable, { name, epoch, from, to }: CheckpointMove): Promise<void> {
  const moved = await queryable.execute(
    `update operational.checkpoints
     set position = $4, updated_at = clock_timestamp(), stopped_at = null, stopped_reason = null
     where name = $1 and epoch = $2 and position = $3`,
    [name, epoch, from, to],
    'checkpoint-move',
  );
  if (moved !== 1) throw refusal('lease_lost');
}

/** Records that the follower stopped, for other processes. Does nothing when another holder has the checkpoint. */
export async function markStopped(
  queryable: Queryable,
  {
    name,
    epoch,
    at,
    reason,
  }: { readonly name: string; readonly epoch: number; readonly at: GlobalPosition; readonly reason: string },
): Promise<void> {
  await queryable.execute(
    'update operational.checkpoints set stopped_at = $3, stopped_reason = $4 where name = $1 and epoch = $2',
    [name, epoch, at, reason],
  );
}

/** @returns undefined when the follower has never run */
export async function readCheckpoint(queryable: Queryable, name: string): Promise<Checkpoint | undefined> {
  const [row] = await queryable.query<{ position: string; stopped_at: string | null; stopped_reason: string | null }>(
    'select position, stopped_at, stopped_reason from operational.checkpoints where name = $1',
    [name],
  );
  return row && checkpointOf(row);
}

/** Converts a row of `operational.checkpoints`. */
export function checkpointOf(row: {
  readonly position: string;
  readonly stopped_at: string | null;
  readonly stopped_reason: string | null;
}): Checkpoint {
  const position = readPosition(row.position);
  if (row.stopped_reason === null) return { position };
  return { position, stopped: { reason: row.stopped_reason, at: parsePosition(row.stopped_at ?? '') ?? position } };
}

function readPosition(text: string): GlobalPosition {
  const position = parsePosition(text);
  if (!position) throw new Error('operational.checkpoints contains an invalid position');
  return position;
}
