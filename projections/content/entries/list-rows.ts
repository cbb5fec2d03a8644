import type { ContentType } from '../../../domain/content/content-type.ts';
import type { EntryQuery } from '../../../domain/content/entry-query.ts';
import type { GlobalPosition } from '../../../domain/event.ts';
import { LIVE } from '../content-types/rows.ts';
import { type BoundValues, afterRanges, afterSql, bindValue, conditionSql, orderSql, sortSql } from './conditions.ts';
import { type EntryShape, shapeColumns, sourceOf, tableOf } from './entry-json.ts';
import { LAST_CHANGES } from './last-changes.ts';
import { type PastSet, pastRows } from './past-rows.ts';
import { searchSql } from './search-condition.ts';

/** The conditions that select the entries of a list. */
export type Conditions = Pick<EntryQuery, 'conditions' | 'deleted' | 'hidden' | 'search' | 'asOf'>;

type From = Pick<EntryShape, 'sources'>;

/** SQL of the indexed words of a row of a past set. */
const PAST_WORDS = 't."_words"';

/**
 * SQL of the rows of a page in their order: the columns of the shape, and the values of the sort keys. Binds the tenant
 * as the first parameter. After a cursor it reads one range at a time, so that each starts at its place in an index.
 */
export function rowsSql(type: ContentType, query: EntryQuery & From, parameters: BoundValues): string {
  const where = whereSql(type, query, parameters, { words: wordsOf(query) });
  const rows = (more: string): string =>
    `from ${sourceOf(type, query)} t where ${where}${more} order by ${orderSql(query.sort)}
     limit ${Math.trunc(query.limit)}`;
  const ranges = query.after ? afterRanges(query.sort, query.after, parameters) : [];
  if (ranges.length > 1)
    return unionSql(
      query,
      ranges.map((range) => `select ${rowColumns(type, query)} ${rows(` and ${range}`)}`),
    );
  const offset = query.offset > 0 ? ` offset ${Math.trunc(query.offset)}` : '';
  return `select ${rowColumns(type, query)} ${rows(ranges.map((range) => ` and ${range}`).join(''))}${offset}`;
}

/**
 * The columns of the shape; then for each sort key its value as text (`_k0`, for the cursor) and as it is (`_o0`, to
 * sort by).
 */
function rowColumns(type: ContentType, query: EntryQuery, alias = 't'): string {
  const keys = query.sort.flatMap((key, index) => [
    `${sortSql(key)}::text as "_k${index}"`,
    `${sortSql(key)} as "_o${index}"`,
  ]);
  return [...shapeColumns(type, query).map((name) => `${alias}.${name}`), ...keys].join(', ');
}

/** The first rows of several selects, each of which returns `rowColumns` in the order of the query. */
function unionSql({ sort, limit }: EntryQuery, selects: readonly string[]): string {
  const order = orderSql(sort, (_, index) => `t."_o${index}"`);
  return `select * from (${selects.map((select) => `(${select})`).join(' union all ')}) t order by ${order}
    limit ${Math.trunc(limit)}`;
}

/** SQL of the number of entries that match. */
export function countSql(type: ContentType, query: Conditions & From, parameters: BoundValues): string {
  return `select count(*)::int8 as count from ${sourceOf(type, query)} t
    where ${whereSql(type, query, parameters, { words: wordsOf(query) })}`;
}

function wordsOf({ sources }: From): string | undefined {
  return sources ? PAST_WORDS : undefined;
}

/** SQL: whether an entry of the type has changed after the position. Creating an entry does not count as a change. */
export function hasChangedSql(type: ContentType, since: GlobalPosition, parameters: BoundValues): string {
  return `exists (select 1 from ${LIVE}.${LAST_CHANGES} c
    where c.type_id = ${bindValue(parameters, type.id, 'uuid')} and c.position > ${bindValue(parameters, since, 'text')})`;
}

/**
 * SQL of a page's rows in the order that they had at the position `walk`. An entry that has not changed after it, or
 * was created after it, is placed by its current row; a changed entry is placed by its row in the set. Both show the
 * current values, and are left out when the current row no longer matches.
 */
export function walkRowsSql(
  type: ContentType,
  query: EntryQuery,
  { set, walk, parameters }: { readonly set: PastSet; readonly walk: GlobalPosition; readonly parameters: BoundValues },
): string {
  const limit = Math.trunc(query.limit);
  const order = orderSql(query.sort);
  const where = whereSql(type, query, parameters);
  const matchedThen = whereSql(type, query, parameters, { words: PAST_WORDS });
  const after = query.after ? ` and ${afterSql(query.sort, query.after, parameters)}` : '';
  const ranges = query.after ? afterRanges(query.sort, query.after, parameters).map((range) => ` and ${range}`) : [''];
  const isUnchanged = `(t."_position" <= ${bindValue(parameters, walk, 'text')} or t."_version" = 1)`;
  const matchesNow = whereSql(type, query, parameters, { alias: 'c' });
  const unchanged = ranges.map(
    (range) =>
      `select ${rowColumns(type, query)} from ${tableOf(type)} t where ${where} and ${isUnchanged}${range}
       order by ${order} limit ${limit}`,
  );
  const changed =
    `select ${rowColumns(type, query, 'c')} from (${pastRows(set)}) t join ${tableOf(type)} c on c."id" = t."id" ` +
    `where ${matchedThen}${after} and ${matchesNow} order by ${order} limit ${limit}`;
  return unionSql(query, [...unchanged, changed]);
}

/**
 * SQL of the conditions. Lists contain only published entries unless a condition names the status; the list of deleted
 * entries contains all.
 */
function whereSql(
  type: ContentType,
  { conditions, deleted = false, hidden, search }: Conditions,
  parameters: BoundValues,
  { alias = 't', words }: { readonly alias?: string; readonly words?: string | undefined } = {},
): string {
  if (parameters.values.length === 0) parameters.values.push(type.tenant);
  const draftsHidden =
    !deleted &&
    type.definition.with_draft_publish === true &&
    !conditions.some(({ column }) => column.column === '_status');
  return [
    `${alias}."tenant_id" = $1`,
    `${alias}."_deleted_at" is ${deleted ? 'not ' : ''}null`,
    ...(draftsHidden ? [`${alias}."_status" = 'published'`] : []),
    ...conditions.map((condition) => conditionSql(condition, parameters, alias)),
    ...(search === undefined ? [] : [searchSql({ type, hidden, search, words }, parameters, alias)]),
  ].join(' and ');
}
