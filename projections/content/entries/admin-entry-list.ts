import type { ContentType } from '../../../domain/content/content-type.ts';
import type { EntryStatus } from '../../../domain/content/entry-events.ts';
import type { EntryState } from '../../../domain/content/entry-state.ts';
import type { Database, Queryable } from '../../../infrastructure/postgres/database.ts';
import type { BoundValues } from './conditions.ts';
import { COMPLETE, entryJson, tableOf } from './entry-json.ts';
import { toState } from './entry-reads.ts';
import { MAX_RESPONSE_BYTES, boundedRows, refusingLarge } from './response-size.ts';
import { searchSql } from './search-condition.ts';

/** A list of entries of several content types of one tenant, latest change first. */
export type AdminQuery = {
  readonly tenant: string;
  /** The types to list, each with the fields that the caller may not see; these are not searched. */
  readonly types: readonly { readonly type: ContentType; readonly hidden: ReadonlySet<string> }[];
  /**
   * `deleted`: soft-deleted entries, and entries of types deleted with `content=soft`. Undefined: every entry that is
   * not deleted.
   */
  readonly status: EntryStatus | 'deleted' | undefined;
  /** Words that the texts of an entry must contain. */
  readonly search: string | undefined;
  readonly limit: number;
  readonly offset: number;
};

/** An entry of the list. */
export type AdminEntry = {
  readonly type: ContentType;
  readonly entry: EntryState;
  readonly deletedAt: string | undefined;
};

/** Throws `invalid_query_parameter` naming `limit` when the entries would be too large. */
export type AdminEntryList = (
  query: AdminQuery,
) => Promise<{ readonly entries: readonly AdminEntry[]; readonly total: number }>;

/** A table to list entries from, and the SQL condition on its rows. */
type Source = {
  readonly type: ContentType;
  readonly hidden: ReadonlySet<string>;
  readonly table: string;
  readonly condition: string;
};

type Page = { readonly places: readonly { readonly at: number; readonly id: string }[]; readonly total: number };

/**
 * Lists entries from the tables of their types. One statement finds the ids of a page over all tables and one counts;
 * then one statement for each type reads the entries. A common table of all entries would find a page faster, but would
 * cost every write another row, and the count would read every row as well.
 */
export function createAdminEntryList({
  database,
  maxBytes = MAX_RESPONSE_BYTES,
}: {
  readonly database: Pick<Database, 'query' | 'execute'>;
  /** Largest JSON text of the entries of a list in bytes. Default: 16 MiB. */
  readonly maxBytes?: number | undefined;
}): AdminEntryList {
  return async (query) => {
    const sources = query.types.flatMap((readable) => sourceOf(readable, query.status) ?? []);
    const { places, total } = await findPage(database, query, sources);
    const found = new Map<string, AdminEntry>();
    let left = maxBytes;
    for (const [at, source] of sources.entries()) {
      const ids = places.filter((place) => place.at === at).map(({ id }) => id);
      const rows = await refusingLarge({ parameter: 'limit', maxBytes }, () =>
        readEntries(database, source, { ids, maxBytes: left }),
      );
      for (const { entry, bytes } of rows) {
        left -= bytes;
        found.set(entry.entry.id, entry);
      }
    }
    return { entries: places.flatMap(({ id }) => found.get(id) ?? []), total };
  };
}

/** The table and condition of a type. @returns undefined when no entry of the type can have the status */
function sourceOf({ type, hidden }: AdminQuery['types'][number], status: AdminQuery['status']): Source | undefined {
  const source = { type, hidden, table: tableOf(type) };
  if (status === 'deleted') return { ...source, condition: 't."_deleted_at" is not null' };
  if (type.deleted === true) return undefined;
  const live = { ...source, condition: 't."_deleted_at" is null' };
  if (status === undefined) return live;
  // In a type without drafts every entry counts as published, even if its row still has another status.
  if (type.definition.with_draft_publish !== true) return status === 'published' ? live : undefined;
  return { ...live, condition: `${live.condition} and t."_status" = '${status}'` };
}

async function findPage(
  queryable: Queryable,
  { tenant, search, limit, offset }: AdminQuery,
  sources: readonly Source[],
): Promise<Page> {
  if (sources.length === 0) return { places: [], total: 0 };
  const from = ({ type, hidden, table, condition }: Source, parameters: BoundValues) =>
    `from ${table} t where t.tenant_id = $1 and ${condition}${search === undefined ? '' : ` and ${searchSql({ type, hidden, search }, parameters)}`}`;
  const paging: BoundValues = { values: [tenant, limit, offset] };
  const arms = sources.map(
    (source, at) =>
      `(select ${at} as at, t.id, t."_updated_at" as changed_at ${from(source, paging)}
       order by t."_updated_at" desc, t.id desc limit $2::int8 + $3::int8)`,
  );
  const counting: BoundValues = { values: [tenant] };
  const counts = sources.map((source) => `(select count(*) ${from(source, counting)})`);
  const [places, [count]] = await Promise.all([
    queryable.query<Page['places'][number]>(
      `select at, id::text as id from (${arms.join(' union all ')}) a order by changed_at desc, id desc
       limit $2 offset $3`,
      paging.values,
    ),
    queryable.query<{ readonly total: number }>(`select (${counts.join(' + ')})::int8 as total`, counting.values),
  ]);
  return { places, total: count?.total ?? 0 };
}

async function readEntries(
  queryable: Queryable,
  { type, table }: Source,
  { ids, maxBytes }: { readonly ids: readonly string[]; readonly maxBytes: number },
): Promise<readonly { readonly entry: AdminEntry; readonly bytes: number }[]> {
  if (ids.length === 0) return [];
  const texts = boundedRows({
    json: entryJson(type, COMPLETE),
    from: `${table} t where t.tenant_id = $1 and t.id = any($2::uuid[])`,
    carried: ['"_deleted_at"'],
    maxBytes: '$3::int8',
    isPage: false,
  });
  const rows = await queryable.query<{ readonly json: string; readonly deleted_at: Date | null }>(
    `select t."_json" as json, t."_deleted_at" as deleted_at from ${texts} t`,
    [type.tenant, ids, maxBytes],
  );
  return rows.map(({ json, deleted_at }) => ({
    entry: { type, entry: toState(type, json), deletedAt: deleted_at?.toISOString() },
    bytes: Buffer.byteLength(json),
  }));
}
