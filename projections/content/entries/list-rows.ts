import type { ContentType } from '../../../domain/content/content-type.ts';
import type { EntryQuery } from '../../../domain/content/entry-query.ts';
import type { GlobalPosition } from '../../../domain/event.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import { afterRanges, afterSql, bind, conditionSql, orderSql, sortSql } from './conditions.ts';
import type { Parameters } from './conditions.ts';
import { LIVE_SCHEMA, shapeColumns, sourceOf, tableOf } from './entry-json.ts';
import type { EntryShape } from './entry-json.ts';
import { LAST_CHANGES } from './last-changes.ts';
import { pastRows } from './past-rows.ts';
import type { PastSet } from './past-rows.ts';
import { searchSql } from './search-condition.ts';

/** Which entries a list is of. */
export type Conditions = Pick<EntryQuery, 'conditions' | 'deleted' | 'hidden' | 'search' | 'asOf'>;

type From = Pick<EntryShape, 'sources'>;

/** Words of a row of the past. */
const PAST_WORDS = 't."_words"';

/** SQL of the rows of a page in their order; only the columns that are shown, and the sort values as text. The tenant is the first parameter. */
export function rowsSql(type: ContentType, query: EntryQuery & From, parameters: Parameters): string {
  const where = whereSql(type, query, parameters, { words: wordsOf(query) });
  const rows = (more: string): string => `from ${sourceOf(type, query)} t where ${where}${more} order by ${orderSql(query.sort)} limit ${Math.trunc(query.limit)}`;
  const ranges = query.after ? afterRanges(query.sort, query.after, parameters) : [];
  if (ranges.length > 1) return unionSql(query, ranges.map((range) => `select ${rowColumns(type, query)} ${rows(` and ${range}`)}`));
  const offset = query.offset > 0 ? ` offset ${Math.trunc(query.offset)}` : '';
  return `select ${rowColumns(type, query)} ${rows(ranges.map((range) => ` and ${range}`).join(''))}${offset}`;
}

/** The columns that are shown, and of every sort key its value as text and as it is. */
function rowColumns(type: ContentType, query: EntryQuery, alias = 't'): string {
  const keys = query.sort.flatMap((key, index) => [`${sortSql(key)}::text as "_k${index}"`, `${sortSql(key)} as "_o${index}"`]);
  return [...shapeColumns(type, query).map((name) => `${alias}.${name}`), ...keys].join(', ');
}

/** The first rows of several selects, each of which gives `rowColumns` in the order of the query. */
function unionSql({ sort, limit }: EntryQuery, selects: readonly string[]): string {
  const order = orderSql(sort, (_, index) => `t."_o${index}"`);
  return `select * from (${selects.map((select) => `(${select})`).join(' union all ')}) t order by ${order} limit ${Math.trunc(limit)}`;
}

/** SQL of how many entries match. */
export function countSql(type: ContentType, query: Conditions & From, parameters: Parameters): string {
  return `select count(*)::int8 as count from ${sourceOf(type, query)} t where ${whereSql(type, query, parameters, { words: wordsOf(query) })}`;
}

function wordsOf({ sources }: From): string | undefined {
  return sources ? PAST_WORDS : undefined;
}

/** SQL of whether entries of the type have changed since a place in the log; those that have come since have not. */
export function hasChangedSql(type: ContentType, since: GlobalPosition, parameters: Parameters): string {
  const changes = `${quoteIdentifier(LIVE_SCHEMA)}.${LAST_CHANGES}`;
  return `exists (select 1 from ${changes} c where c.type_id = ${bind(parameters, type.id, 'uuid')} and c.position > ${bind(parameters, since, 'text')})`;
}

/**
 * SQL of a page's rows where entries stand as they stood at a place in the log: those that have not changed since by their rows, the others by what the
 * set says of them. Both as they are now, where that still matches.
 */
export function walkRowsSql(type: ContentType, query: EntryQuery, { set, walk }: { readonly set: PastSet; readonly walk: GlobalPosition }, parameters: Parameters): string {
  const limit = Math.trunc(query.limit);
  const order = orderSql(query.sort);
  const where = whereSql(type, query, parameters);
  const then = whereSql(type, query, parameters, { words: PAST_WORDS });
  const after = query.after ? ` and ${afterSql(query.sort, query.after, parameters)}` : '';
  const ranges = query.after ? afterRanges(query.sort, query.after, parameters).map((range) => ` and ${range}`) : [''];
  const still = `(t."_position" <= ${bind(parameters, walk, 'text')} or t."_version" = 1)`;
  const now = whereSql(type, query, parameters, { alias: 'c' });
  const unchanged = ranges.map((range) => `select ${rowColumns(type, query)} from ${tableOf(type)} t where ${where} and ${still}${range} order by ${order} limit ${limit}`);
  const changed =
    `select ${rowColumns(type, query, 'c')} from (${pastRows(set)}) t join ${tableOf(type)} c on c."id" = t."id" ` +
    `where ${then}${after} and ${now} order by ${order} limit ${limit}`;
  return unionSql(query, [...unchanged, changed]);
}

/** Lists hold published entries unless a condition names the status (spec 1, query parameters), those of deleted entries all. */
function whereSql(type: ContentType, { conditions, deleted = false, hidden, search }: Conditions, parameters: Parameters, { alias = 't', words }: { readonly alias?: string; readonly words?: string | undefined } = {}): string {
  if (parameters.values.length === 0) parameters.values.push(type.tenant);
  const draftsHidden = !deleted && type.definition.with_draft_publish === true && !conditions.some(({ column }) => column.column === '_status');
  return [
    `${alias}."tenant_id" = $1`,
    `${alias}."_deleted_at" is ${deleted ? 'not ' : ''}null`,
    ...(draftsHidden ? [`${alias}."_status" = 'published'`] : []),
    ...conditions.map((condition) => conditionSql(condition, parameters, alias)),
    ...(search === undefined ? [] : [searchSql({ type, hidden, search, words }, parameters, alias)]),
  ].join(' and ');
}
