import type { Database, Queryable } from '../../../infrastructure/postgres/database.ts';

/** Makes an empty set of a tenant. @returns its id */
export async function makePastSet(queryable: Queryable, tenant: string): Promise<number> {
  const [row] = await queryable.query<{ id: number }>(
    'insert into operational.past_sets (tenant_id) values ($1) returning id',
    [tenant],
  );
  if (!row) throw new Error('the insert into past_sets returned no row');
  return row.id;
}

/** Writes that the set is in use. */
export async function touchPastSet(queryable: Queryable, id: number): Promise<void> {
  await queryable.execute('update operational.past_sets set used_at = now() where id = $1', [id]);
}

/** Deletes a set with its entries. */
export async function deletePastSet(queryable: Queryable, id: number): Promise<void> {
  await queryable.execute('delete from operational.past_sets where id = $1', [id]);
}

/**
 * Deletes the sets of a tenant that were unused for longest, until the others are within the bounds. The sets of `keep`
 * stay and count first.
 */
export async function deletePastSetsOverBounds(
  queryable: Queryable,
  {
    tenant,
    keep,
    sets,
    bytes,
  }: { readonly tenant: string; readonly keep: readonly number[]; readonly sets: number; readonly bytes: number },
): Promise<void> {
  await queryable.execute(
    `delete from operational.past_sets where id in (
       select s.id from (
         select id, sum(bytes) over w as bytes, count(*) over w as place from operational.past_sets where tenant_id = $1
         window w as (order by id = any($2::int8[]) desc, used_at desc, id desc rows unbounded preceding)
       ) s where (s.bytes > $3 or s.place > $4) and s.id <> all($2::int8[]))`,
    [tenant, keep, bytes, sets],
  );
}

/** Deletes the sets that have been unused for 10 minutes. @returns their number */
export async function sweepPastSets({ database }: { readonly database: Database }): Promise<number> {
  return database.execute(`delete from operational.past_sets where used_at < now() - interval '10 minutes'`);
}
