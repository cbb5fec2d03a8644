import type { GlobalPosition } from '../../../domain/event.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { Target } from '../../engine/projection.ts';

/**
 * Table with the position of the last change of any entry of each type. Creating an entry does not count as a change.
 * Cursor lists read it to find out whether entries may have moved since the first page.
 */
export const LAST_CHANGES = '_last_changes';

export async function createLastChanges(tx: Transaction, { schema }: Target): Promise<void> {
  await tx.query(
    `create table ${schema}.${LAST_CHANGES} (type_id uuid primary key, tenant_id text not null,
     position text collate "C" not null)`,
  );
}

/** The last change of a type's entries in a batch. */
export type LastChange = { readonly tenant: string; readonly position: GlobalPosition };

/** Writes the last changes of a batch; keys are type ids. */
export async function writeLastChanges(
  tx: Transaction,
  { schema }: Target,
  changes: ReadonlyMap<string, LastChange>,
): Promise<void> {
  if (changes.size === 0) return;
  const all = [...changes];
  await tx.execute(
    `insert into ${schema}.${LAST_CHANGES} (type_id, tenant_id, position)
     select * from unnest($1::uuid[], $2::text[], $3::text[])
     on conflict (type_id) do update set position = excluded.position`,
    [all.map(([id]) => id), all.map(([, { tenant }]) => tenant), all.map(([, { position }]) => position)],
    `last-changes-${schema}`,
  );
}

/** Deletes the rows of permanently deleted types. */
export async function deleteLastChanges(
  tx: Transaction,
  { schema }: Target,
  typeIds: readonly string[],
): Promise<void> {
  await tx.execute(`delete from ${schema}.${LAST_CHANGES} where type_id = any($1::uuid[])`, [typeIds]);
}
