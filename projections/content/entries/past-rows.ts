import type { ContentType } from '../../../domain/content/content-type.ts';
import { shownValue, storedFields } from '../../../domain/content/entry-fields.ts';
import type { EntryState } from '../../../domain/content/entry-state.ts';
import type { PointInTime } from '../../../domain/content/point-in-time.ts';
import type { Json, JsonObject } from '../../../domain/json.ts';
import type { Queryable } from '../../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import { LIVE } from '../content-types/rows.ts';
import { SYSTEM_COLUMNS } from '../content-types/system-columns.ts';
import { tableOf } from './entry-json.ts';
import { SEARCH } from './search-table.ts';
import { searchVectorSql, searchedKeys } from './search-vector.ts';
import { TOMBSTONES } from './tombstones.ts';

/**
 * A set in `operational.past_entries`: the entries of a type that have changed after a point in time (or after a
 * position in the log), each with its state at that point.
 */
export type PastSet = { readonly type: ContentType; readonly pointInTime: PointInTime; readonly id: number };

/**
 * SQL of the rows to select the entries of a type from, at the point in time of the sets. For a type without a set: its
 * current table.
 */
export function pastSources(sets: ReadonlyMap<string, PastSet>): (type: ContentType) => string {
  return (type) => {
    const set = sets.get(type.id);
    return set ? pastSource(set) : tableOf(type);
  };
}

/**
 * The rows that have not changed since the point in time and the rows of the set, in parentheses. Columns as in the
 * type's table, and `_words`.
 */
function pastSource(set: PastSet): string {
  const { type, pointInTime } = set;
  if (!('time' in pointInTime)) throw new TypeError('the set must be of a time, not of a position');
  const words = `(select s.words from ${LIVE}.${SEARCH} s where s.entry_id = x.id) as "_words"`;
  return `(select ${[...columnsOf(type).map((name) => `x.${quoteIdentifier(name)}`), words].join(', ')}
    from ${tableOf(type)} x where x."_updated_at" <= ${timeLiteral(pointInTime.time)} union all ${pastRows(set)})`;
}

/** The set's entries as rows of the type's table, with `_words`. */
export function pastRows({ type, id }: PastSet): string {
  const columns = columnsOf(type).map((name) => `r.${quoteIdentifier(name)}`);
  return `select ${columns.join(', ')}, p.search as "_words" from operational.past_entries p
    cross join lateral json_populate_record(null::${tableOf(type)}, p.state) r
    where p.set_id = ${Math.trunc(id)} and p.state is not null`;
}

/**
 * Ids of entries that belong to the set but are not in it yet, at most `limit`. The set is complete up to the position
 * `upto`, so only entries that changed after it are searched. Deleted entries are found by their tombstones.
 */
export async function missingIds(
  queryable: Queryable,
  { type, pointInTime, id }: PastSet,
  { upto, limit }: { readonly upto: string; readonly limit: number },
): Promise<readonly string[]> {
  const isUnchanged = `not exists (select 1 from operational.past_entries p where p.set_id = $3 and p.entry_id = t.id)`;
  const byTime = 'time' in pointInTime;
  const rows = byTime
    ? 't."_updated_at" > $5 and t."_created_at" <= $5'
    : 't."_position" > $5 and t."_version" > 1 and t."_deleted_at" is null';
  const deleted = `select t.id from (
    select entry_id as id, position from ${LIVE}.${TOMBSTONES}
    where tenant_id = $1 and type_id = $6 and deleted_at > $5 and position > $2) t where ${isUnchanged}`;
  const found = await queryable.query<{ id: string }>(
    `select m.id::text as id
     from (select t.id from ${tableOf(type)} t
     where t.tenant_id = $1 and t."_position" > $2 and ${rows} and ${isUnchanged}${byTime ? ` union ${deleted}` : ''}) m
     limit $4`,
    [type.tenant, upto, id, limit, byTime ? pointInTime.time : pointInTime.position, ...(byTime ? [type.id] : [])],
  );
  return found.map((row) => row.id);
}

/**
 * Adds entries to the set with their words for search. An undefined state means that the entry did not exist at that
 * point. @returns the bytes of their JSON
 */
export async function addToSet(
  queryable: Queryable,
  { type, id }: PastSet,
  states: readonly (readonly [id: string, state: EntryState | undefined])[],
): Promise<number> {
  const rows = JSON.stringify(
    states.map(([entryId, state]) => ({ id: entryId, ...(state ? { state: rowOf(type, state) } : {}) })),
  );
  const vector = searchVectorSql(LIVE, searchedKeys(type.definition), (key) => `s.state->>'${key}'`);
  await queryable.execute(
    `insert into operational.past_entries (set_id, entry_id, state, search)
     select $1, s.id, s.state, case when s.state is not null then ${vector} end
     from json_to_recordset($2::json) s(id uuid, state json) on conflict do nothing`,
    [id, rows],
  );
  return Buffer.byteLength(rows);
}

/** An entry as a row of its type's table, as JSON. */
export function rowOf(type: ContentType, entry: EntryState): JsonObject {
  const fields = storedFields(type.definition).map((field): readonly [string, Json] => [
    field.key,
    shownValue(field, entry.fields),
  ]);
  return {
    ...Object.fromEntries(fields),
    id: entry.id,
    tenant_id: type.tenant,
    _version: entry.version,
    _status: entry.status,
    _slug: entry.slug ?? null,
    _created_at: entry.createdAt,
    _updated_at: entry.updatedAt,
    _published_at: entry.publishedAt ?? null,
    _created_by: { kind: entry.createdBy.kind, id: entry.createdBy.id },
    _updated_by: { kind: entry.updatedBy.kind, id: entry.updatedBy.id },
    _deleted_at: entry.deleted ? entry.updatedAt : null,
  };
}

/** A row that is bound as a parameter of the statement, in parentheses. */
export function parameterRow(type: ContentType, parameter: string): string {
  return `(select * from json_populate_record(null::${tableOf(type)}, ${parameter}::json))`;
}

function columnsOf(type: ContentType): readonly string[] {
  return [...SYSTEM_COLUMNS.map(({ name }) => name), ...storedFields(type.definition).map(({ key }) => key)];
}

/**
 * The point in time as an SQL literal. The statement serves this point in time only, so a parameter would gain nothing.
 */
function timeLiteral(time: string): string {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(time))
    throw new RangeError('not an RFC 3339 time in UTC with milliseconds');
  return `'${time}'::timestamptz`;
}
