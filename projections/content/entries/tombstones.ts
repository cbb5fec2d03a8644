import type { ContentType } from '../../../domain/content/content-type.ts';
import type { GlobalPosition } from '../../../domain/event.ts';
import type { Queryable, Transaction } from '../../../infrastructure/postgres/database.ts';
import type { Target } from '../../engine/projection.ts';

/** That an entry is gone, softly or not: until it comes back, its stream tells of it at moments before. */
export type Deletion = { readonly type: ContentType; readonly at: string; readonly position: GlobalPosition };

/** Table of the read model that remembers deleted entries, for reads of the past. */
export const TOMBSTONES = '_tombstones';

/** Statement that makes the table; `schema` in quotes. */
export function createTombstones(schema: string): string {
  return `create table ${schema}.${TOMBSTONES} (
      entry_id uuid primary key,
      type_id uuid not null,
      tenant_id text not null,
      deleted_at timestamptz(3) not null,
      position text collate "C" not null
    );
    create index on ${schema}.${TOMBSTONES} (type_id, deleted_at)`;
}

/** Writes what a batch of events comes to: entries that are gone, and (undefined) entries that are back. */
export async function keepTombstones(tx: Transaction, { schema }: Target, deletions: ReadonlyMap<string, Deletion | undefined>): Promise<void> {
  const back = [...deletions].flatMap(([id, deletion]) => (deletion ? [] : [id]));
  const gone = [...deletions].flatMap(([id, deletion]) => (deletion ? [{ entry_id: id, type_id: deletion.type.id, tenant_id: deletion.type.tenant, deleted_at: deletion.at, position: deletion.position }] : []));
  if (back.length > 0) await tx.execute(`delete from ${schema}.${TOMBSTONES} where entry_id = any($1::uuid[])`, [back]);
  if (gone.length === 0) return;
  await tx.execute(
    `insert into ${schema}.${TOMBSTONES} select * from json_populate_recordset(null::${schema}.${TOMBSTONES}, $1)
     on conflict (entry_id) do update set deleted_at = excluded.deleted_at, position = excluded.position`,
    [JSON.stringify(gone)],
  );
}

/** Forgets the entries of types that are deleted for good. */
export async function dropTombstones(tx: Queryable, schema: string, typeIds: readonly string[]): Promise<void> {
  await tx.execute(`delete from ${schema}.${TOMBSTONES} where type_id = any($1::uuid[])`, [typeIds]);
}
