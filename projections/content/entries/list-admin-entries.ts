import type { ContentType } from '../../../domain/content/content-type.ts';
import type { EntryState } from '../../../domain/content/entry-state.ts';
import type { EntryStatus } from '../../../domain/content/events.ts';
import type { Queryable } from '../../../infrastructure/postgres/database.ts';
import type { Parameters } from './conditions.ts';
import { entryJson, tableOf } from './entry-json.ts';
import { toState } from './get-entry.ts';
import { searchSql } from './search-condition.ts';

/** A list of entries over several content types of one tenant, newest change first (spec 4 A, admin content). */
export type AdminQuery = {
  readonly tenant: string;
  /** With the fields that the caller does not see, and so can't search. */
  readonly types: readonly { readonly type: ContentType; readonly hidden: ReadonlySet<string> }[];
  /** `deleted`: what soft delete, of entries or of whole types, has kept. Undefined: everything that is there. */
  readonly status: EntryStatus | 'deleted' | undefined;
  /** Words that the texts of the entries must hold. */
  readonly search: string | undefined;
  readonly limit: number;
  readonly offset: number;
};

/** An entry of the list. */
export type AdminEntry = { readonly type: ContentType; readonly entry: EntryState; readonly deletedAt: string | undefined };

export type AdminEntryList = (query: AdminQuery) => Promise<{ readonly entries: readonly AdminEntry[]; readonly total: number }>;

/** A table that entries are listed from, and what its entries must be. */
type Source = { readonly type: ContentType; readonly hidden: ReadonlySet<string>; readonly table: string; readonly condition: string };

type Page = { readonly places: readonly { readonly at: number; readonly id: string }[]; readonly total: number };

const NOTHING_HIDDEN: ReadonlySet<string> = new Set();

/**
 * Lists entries over the tables of their types: one statement finds and counts a page over all of them, then one a type reads its entries. A
 * table of all entries beside the typed ones would find them sooner and cost every write a row; the count reads every row either way.
 */
export function createAdminEntryList({ database }: { readonly database: Queryable }): AdminEntryList {
  return async (query) => {
    const sources = query.types.flatMap((readable) => sourceOf(readable, query.status) ?? []);
    const { places, total } = await findPage(database, query, sources);
    const found = new Map<string, AdminEntry>();
    for (const [at, source] of sources.entries()) {
      const ids = places.filter((place) => place.at === at).map(({ id }) => id);
      for (const entry of await readEntries(database, source, ids)) found.set(entry.entry.id, entry);
    }
    return { entries: places.flatMap(({ id }) => found.get(id) ?? []), total };
  };
}

/** @returns undefined for a type none of whose entries can have the status */
function sourceOf({ type, hidden }: AdminQuery['types'][number], status: AdminQuery['status']): Source | undefined {
  const source = { type, hidden, table: tableOf(type) };
  if (status === 'deleted') return { ...source, condition: 't."_deleted_at" is not null' };
  if (type.deleted === true) return undefined;
  const living = { ...source, condition: 't."_deleted_at" is null' };
  if (status === undefined) return living;
  // Without drafts every entry counts as published, whatever its row still says.
  if (type.definition.with_draft_publish !== true) return status === 'published' ? living : undefined;
  return { ...living, condition: `${living.condition} and t."_status" = '${status}'` };
}

async function findPage(database: Queryable, { tenant, search, limit, offset }: AdminQuery, sources: readonly Source[]): Promise<Page> {
  if (sources.length === 0) return { places: [], total: 0 };
  const from = ({ type, hidden, table, condition }: Source, parameters: Parameters) =>
    `from ${table} t where t.tenant_id = $1 and ${condition}${search === undefined ? '' : ` and ${searchSql({ type, hidden, search }, parameters)}`}`;
  const paging: Parameters = { values: [tenant, limit, offset] };
  const arms = sources.map((source, at) => `(select ${at} as at, t.id, t."_updated_at" as moved ${from(source, paging)} order by t."_updated_at" desc, t.id desc limit $2::int8 + $3::int8)`);
  const counting: Parameters = { values: [tenant] };
  const counts = sources.map((source) => `(select count(*) ${from(source, counting)})`);
  const [places, [count]] = await Promise.all([
    database.query<Page['places'][number]>(`select at, id::text as id from (${arms.join(' union all ')}) a order by moved desc, id desc limit $2 offset $3`, paging.values),
    database.query<{ readonly total: number }>(`select (${counts.join(' + ')})::int8 as total`, counting.values),
  ]);
  return { places, total: count?.total ?? 0 };
}

async function readEntries(database: Queryable, { type, table }: Source, ids: readonly string[]): Promise<readonly AdminEntry[]> {
  if (ids.length === 0) return [];
  const json = entryJson(type, { hidden: NOTHING_HIDDEN, complete: true });
  const rows = await database.query<{ readonly json: string; readonly deleted_at: Date | null }>(
    `select ${json} as json, t."_deleted_at" as deleted_at from ${table} t where t.tenant_id = $1 and t.id = any($2::uuid[])`,
    [type.tenant, ids],
  );
  return rows.map((row) => ({ type, entry: toState(type, row.json), deletedAt: row.deleted_at?.toISOString() }));
}
