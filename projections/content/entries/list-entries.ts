import type { ContentType } from '../../../domain/content/content-type.ts';
import type { CursorValue, EntryQuery } from '../../../domain/content/entry-query.ts';
import type { Queryable } from '../../../infrastructure/postgres/database.ts';
import { afterSql, conditionSql, orderSql, sortSql } from './conditions.ts';
import type { Parameters } from './conditions.ts';
import { entryJson, shapeColumns, shapeKey, sourceOf, tableOf } from './entry-json.ts';
import { mayExceed, refusePopulate, withinBound } from './populate-bound.ts';
import type { Statement, StatementCache } from './statements.ts';

/** A page: its JSON array as text, and where the next one begins. */
export type EntryPage = {
  readonly json: string;
  readonly count: number;
  /** Sort values and id of the last entry; undefined on an empty page. */
  readonly last: { readonly values: readonly CursorValue[]; readonly id: string } | undefined;
};

export type EntryList = {
  /**
   * The entries of a list as one JSON array, made by one statement, related entries with them (spec 5, rule 14).
   * @throws `invalid_query_parameter` naming `populate` when the answer would hold too many related entries
   */
  list(type: ContentType, query: EntryQuery): Promise<string>;
  /** The same with what a cursor needs. */
  page(type: ContentType, query: EntryQuery): Promise<EntryPage>;
  /** How many entries match the conditions. */
  count(type: ContentType, query: Conditions): Promise<number>;
};

/** Which entries a list is of. */
type Conditions = Pick<EntryQuery, 'conditions' | 'deleted'>;

/** Lists of entries over the live read model. */
export function createEntryList({ database, statements }: { readonly database: Queryable; readonly statements: StatementCache }): EntryList {
  return {
    async list(type, query) {
      const parameters = { values: [] };
      const source = sourceSql(type, query, parameters);
      const { text, name } = cached(type, query, 'list', source, () => listSql(type, query, source));
      const [row] = await database.query<{ json: string | null }>(text, parameters.values, name);
      if (row?.json == null) throw refusePopulate();
      return row.json;
    },
    async page(type, query) {
      const parameters = { values: [] };
      const source = sourceSql(type, query, parameters);
      const { text, name } = cached(type, query, 'page', source, () => pageSql(type, query, source));
      const [row] = await database.query<{ json: string | null; count: number; last: CursorValue[] | null }>(text, parameters.values, name);
      if (row?.json == null) throw refusePopulate();
      const { json, count, last } = row;
      const id = last?.at(-1);
      return { json, count, last: last && typeof id === 'string' ? { values: last.slice(0, -1), id } : undefined };
    },
    async count(type, query) {
      const parameters = { values: [] };
      const where = whereSql(type, query, parameters);
      const text = `select count(*)::int8 as count from ${tableOf(type)} t where ${where}`;
      const [row] = await database.query<{ count: number }>(text, parameters.values);
      return row?.count ?? 0;
    },
  };

  /** The text of the source names every column, condition and limit; with the shape it says all there is to a statement. */
  function cached(type: ContentType, query: EntryQuery, kind: string, source: string, compile: () => string): Statement {
    return statements.get(`${kind} ${shapeKey(type, query)} ${source}`, compile);
  }
}

function listSql(type: ContentType, query: EntryQuery, source: string): string {
  const json = arraySql(type, query);
  if (!mayExceed(query.populate ?? [], query.limit)) return `select ${json} as json from (${source}) t`;
  return `with page as materialized (${source}) select case when ${withinSql(query)} then (select ${json} from page t) end as json`;
}

function pageSql(type: ContentType, query: EntryQuery, source: string): string {
  const json = arraySql(type, query);
  const values = [...query.sort.map((_, index) => `t."_k${index}"`), 't."id"::text'].join(', ');
  const ends = `count(*)::int4 as count, (array_agg(json_build_array(${values})))[count(*)] as last`;
  if (!mayExceed(query.populate ?? [], query.limit)) return `select ${json} as json, ${ends} from (${source}) t`;
  return `with page as materialized (${source}) select case when ${withinSql(query)} then (select ${json} from page t) end as json, ${ends} from page t`;
}

function arraySql(type: ContentType, query: EntryQuery): string {
  return `'[' || coalesce(string_agg(${entryJson(type, query)}, ','), '') || ']'`;
}

function withinSql(query: EntryQuery): string {
  return withinBound(query.populate ?? [], 'page', (related) => sourceOf(related, {}));
}

/** The rows of a page in their order; only the columns that are shown, and the sort values as text. */
function sourceSql(type: ContentType, query: EntryQuery, parameters: Parameters): string {
  const where = [whereSql(type, query, parameters)];
  if (query.after) where.push(afterSql(query.sort, query.after, parameters));
  const columns = [...shapeColumns(type, query).map((name) => `t.${name}`), ...query.sort.map((key, index) => `${sortSql(key)}::text as "_k${index}"`)];
  const offset = query.offset > 0 ? ` offset ${Math.trunc(query.offset)}` : '';
  return `select ${columns.join(', ')} from ${tableOf(type)} t where ${where.join(' and ')} order by ${orderSql(query.sort)} limit ${Math.trunc(query.limit)}${offset}`;
}

/** Lists hold published entries unless a condition names the status (spec 1, query parameters), those of deleted entries all. */
function whereSql(type: ContentType, { conditions, deleted = false }: Conditions, parameters: Parameters): string {
  parameters.values.push(type.tenant);
  const draftsHidden = !deleted && type.definition.with_draft_publish === true && !conditions.some(({ column }) => column.column === '_status');
  return [
    't."tenant_id" = $1',
    `t."_deleted_at" is ${deleted ? 'not ' : ''}null`,
    ...(draftsHidden ? [`t."_status" = 'published'`] : []),
    ...conditions.map((condition) => conditionSql(condition, parameters)),
  ].join(' and ');
}
