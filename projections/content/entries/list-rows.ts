import type { ContentType } from '../../../domain/content/content-type.ts';
import type { EntryQuery } from '../../../domain/content/entry-query.ts';
import type { GlobalPosition } from '../../../domain/event.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import { afterSql, bind, conditionSql, orderSql, sortSql } from './conditions.ts';
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
  const where = [whereSql(type, query, parameters, { words: wordsOf(query) })];
  if (query.after) where.push(afterSql(query.sort, query.after, parameters));
  const columns = [...shapeColumns(type, query).map((name) => `t.${name}`), ...query.sort.map((key, index) => `${sortSql(key)}::text as "_k${index}"`)];
  const offset = query.offset > 0 ? ` offset ${Math.trunc(query.offset)}` : '';
  return `select ${columns.join(', ')} from ${sourceOf(type, query)} t where ${where.join(' and ')} order by ${orderSql(query.sort)} limit ${Math.trunc(query.limit)}${offset}`;
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
  const shown = shapeColumns(type, query);
  const keys = query.sort.flatMap((key, index) => [`${sortSql(key)}::text as "_k${index}"`, `${sortSql(key)} as "_o${index}"`]);
  const order = orderSql(query.sort);
  const outer = orderSql(query.sort, (_, index) => `t."_o${index}"`);
  const where = whereSql(type, query, parameters);
  const then = whereSql(type, query, parameters, { words: PAST_WORDS });
  const after = query.after ? ` and ${afterSql(query.sort, query.after, parameters)}` : '';
  const still = `(t."_position" <= ${bind(parameters, walk, 'text')} or t."_version" = 1)`;
  const now = whereSql(type, query, parameters, { alias: 'c' });
  const unchanged = `select ${[...shown.map((name) => `t.${name}`), ...keys].join(', ')} from ${tableOf(type)} t where ${where} and ${still}${after} order by ${order} limit ${limit}`;
  const changed =
    `select ${[...shown.map((name) => `c.${name}`), ...keys].join(', ')} from (${pastRows(set)}) t join ${tableOf(type)} c on c."id" = t."id" ` +
    `where ${then}${after} and ${now} order by ${order} limit ${limit}`;
  return `select * from ((${unchanged}) union all (${changed})) t order by ${outer} limit ${limit}`;
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
