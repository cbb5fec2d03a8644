import type { ContentType } from '../../../domain/content/content-type.ts';
import type { GlobalPosition } from '../../../domain/event.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { Target } from '../../engine/projection.ts';

/** The deletion of an entry, soft or hard: when, and at which position of the log. */
export type Deletion = { readonly type: ContentType; readonly at: string; readonly position: GlobalPosition };

/**
 * Table of deleted entries. Reads at a point in time use it to find entries that existed then; a restored entry is
 * removed from it.
 */
export const TOMBSTONES = '_tombstones';

export async function createTombstones(tx: Transaction, { schema }: Target): Promise<void> {
  await tx.query(`create table ${schema}.${TOMBSTONES} (
      entry_id uuid primary key,
      type_id uuid not null,
      tenant_id text not null,
      deleted_at timestamptz(3) not null,
      position text collate "C" not null
    );
    create index on ${schema}.${TOMBSTONES} (type_id, deleted_at)`);
}

/**
 * Writes the effect of a batch of events: adds deleted entries, and removes restored ones, whose value is undefined.
 */
export async function writeTombstones(
  tx: Transaction,
  { schema }: Target,
  deletions: ReadonlyMap<string, Deletion | undefined>,
): Promise<void> {
  const restored = [...deletions].flatMap(([id, deletion]) => (deletion ? [] : [id]));
  const deleted = [...deletions].flatMap(([id, deletion]) =>
    deletion
      ? [
          {
            entry_id: id,
            type_id: deletion.type.id,
            tenant_id: deletion.type.tenant,
            deleted_at: deletion.at,
            position: deletion.position,
          },
        ]
      : [],
  );
  if (restored.length > 0)
    await tx.execute(`delete from ${schema}.${TOMBSTONES} where entry_id = any($1::uuid[])`, [restored]);
  if (deleted.length === 0) return;
  await tx.execute(
    `insert into ${schema}.${TOMBSTONES} select * from json_populate_recordset(null::${schema}.${TOMBSTONES}, $1)
     on conflict (entry_id) do update set deleted_at = excluded.deleted_at, position = excluded.position`,
    [JSON.stringify(deleted)],
  );
}

/** Deletes the tombstones of permanently deleted types. */
export async function deleteTombstones(tx: Transaction, { schema }: Target, typeIds: readonly string[]): Promise<void> {
  await tx.execute(`delete from ${schema}.${TOMBSTONES} where type_id = any($1::uuid[])`, [typeIds]);
}
