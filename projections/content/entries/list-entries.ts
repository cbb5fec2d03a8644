import type { ContentType } from '../../../domain/content/content-type.ts';
import type { CursorValue, EntryQuery } from '../../../domain/content/entry-query.ts';
import { plannedTypes } from '../../../domain/content/populate-plan.ts';
import type { PopulatePlan } from '../../../domain/content/populate-plan.ts';
import type { GlobalPosition } from '../../../domain/event.ts';
import { parsePosition } from '../../../domain/event.ts';
import type { Queryable } from '../../../infrastructure/postgres/database.ts';
import { entryJson, shapeKey, sourceOf } from './entry-json.ts';
import type { EntryShape } from './entry-json.ts';
import type { Parameters } from './conditions.ts';
import { countSql, hasChangedSql, rowsSql, walkRowsSql } from './list-rows.ts';
import type { Conditions } from './list-rows.ts';
import type { Past } from './past.ts';
import { pastSources } from './past-rows.ts';
import { READ_MODEL_POSITION } from './read-model-position.ts';
import { mayExceed, refusePopulate, withinBound } from './populate-bound.ts';
import type { Statement, StatementCache } from './statements.ts';

/** A page: its JSON array as text, and where the next one begins. */
export type EntryPage = {
  readonly json: string;
  readonly count: number;
  /** Sort values and id of the last entry; undefined on an empty page. */
  readonly last: { readonly values: readonly CursorValue[]; readonly id: string } | undefined;
  /** Where the read model stood at the walk's first page; the walk's order is that of then. Undefined where it stands still: at a moment of the past. */
  readonly walk: GlobalPosition | undefined;
};

export type EntryList = {
  /**
   * The entries of a list as one JSON array, made by one statement, related entries with them (spec 5, rule 14).
   * @throws `invalid_query_parameter` naming `populate` when the answer would hold too many related entries; `past_not_ready`
   */
  list(type: ContentType, query: EntryQuery): Promise<string>;
  /**
   * The same with what a cursor needs. On pages after the first every entry has the place that it had when the walk began (or when it came, if it came
   * later): none is repeated or skipped, whatever changes meanwhile. What is shown is what the entry is now, if it is still there and still matches.
   */
  page(type: ContentType, query: EntryQuery): Promise<EntryPage>;
  /** How many entries match the conditions. */
  count(type: ContentType, query: Conditions): Promise<number>;
};

export type EntryListOptions = {
  readonly database: Queryable;
  /** Has every change that any page has shown. */
  readonly primary: Queryable;
  readonly statements: StatementCache;
  readonly past: Past;
};

type PageRow = { readonly json: string | null; readonly count: number; readonly last: CursorValue[] | null; readonly walk?: string | null; readonly changed?: boolean };
type Sources = EntryShape['sources'];

/** Lists of entries over the live read model and its past. */
export function createEntryList({ database, primary, statements, past }: EntryListOptions): EntryList {
  async function list(db: Queryable, type: ContentType, query: EntryQuery, sources?: Sources): Promise<string> {
    const parameters = { values: [] };
    const rows = rowsSql(type, { ...query, sources }, parameters);
    const { text, name } = cached('list', type, query, rows, sources, () => statementSql(type, { ...query, sources }, rows, []));
    const [row] = await db.query<Pick<PageRow, 'json'>>(text, parameters.values, name);
    if (row?.json == null) throw refusePopulate();
    return row.json;
  }

  async function page(db: Queryable, type: ContentType, query: EntryQuery, rows: string, { values }: Parameters, more: readonly string[], sources?: Sources): Promise<PageRow> {
    const { text, name } = cached('page', type, query, [rows, ...more].join(), sources, () => statementSql(type, { ...query, sources }, rows, [...endSql(query), ...more]));
    const [row] = await db.query<PageRow>(text, values, name);
    if (row?.json == null) throw refusePopulate();
    return row;
  }

  /** A page on which entries stand where they stood when the walk began. */
  function walkPage(type: ContentType, query: EntryQuery, walk: GlobalPosition): Promise<PageRow> {
    return past.read([type], { position: walk }, async (tx, sets) => {
      const parameters = { values: [] };
      const set = sets.get(type.id);
      const rows = set ? walkRowsSql(type, query, { set, walk }, parameters) : rowsSql(type, query, parameters);
      return page(tx, type, query, rows, parameters, []);
    });
  }

  return {
    list: (type, query) =>
      query.asOf === undefined ? list(database, type, query) : past.read(typesOf(type, query.populate), { time: query.asOf }, (tx, sets) => list(tx, type, query, pastSources(sets))),
    async page(type, query) {
      // Entries come to the list of deleted ones and go for good: there is no order to hold on to.
      const walk = query.deleted === true ? undefined : query.after?.walk;
      const parameters = { values: [] };
      if (query.asOf !== undefined) {
        return past.read(typesOf(type, query.populate), { time: query.asOf }, async (tx, sets) => {
          const sources = pastSources(sets);
          return toPage(await page(tx, type, query, rowsSql(type, { ...query, sources }, parameters), parameters, [], sources), undefined);
        });
      }
      if (walk !== undefined && past.isKnown(type, { position: walk })) return toPage(await walkPage(type, query, walk), walk);
      const rows = rowsSql(type, query, parameters);
      if (walk === undefined) {
        const row = await page(database, type, query, rows, parameters, [`${READ_MODEL_POSITION} as walk`]);
        return toPage(row, query.deleted === true ? undefined : parsePosition(row.walk ?? ''));
      }
      const row = await page(primary, type, query, rows, parameters, [`${hasChangedSql(type, walk, parameters)} as changed`]);
      return toPage(row.changed === true ? await walkPage(type, query, walk) : row, walk);
    },
    async count(type, query) {
      const parameters = { values: [] };
      const count = async (db: Queryable, sources?: Sources): Promise<number> => {
        const [row] = await db.query<{ count: number }>(countSql(type, { ...query, sources }, parameters), parameters.values);
        return row?.count ?? 0;
      };
      return query.asOf === undefined ? count(database) : past.read([type], { time: query.asOf }, (tx, sets) => count(tx, pastSources(sets)));
    },
  };

  /** The text of the rows names every column, condition and limit; with the shape it says all there is to a statement. Those of the past are for one moment. */
  function cached(kind: string, type: ContentType, query: EntryQuery, rows: string, sources: Sources, compile: () => string): Statement {
    return sources ? { text: compile() } : statements.get(`${kind} ${shapeKey(type, query)} ${rows}`, compile);
  }
}

function toPage({ json, count, last }: PageRow, walk: GlobalPosition | undefined): EntryPage {
  const id = last?.at(-1);
  return { json: json ?? '[]', count, last: last && typeof id === 'string' ? { values: last.slice(0, -1), id } : undefined, walk };
}

/** The type and every type that is shown inside its entries. */
function typesOf(type: ContentType, plan: PopulatePlan = []): readonly ContentType[] {
  return [type, ...plannedTypes(plan).filter(({ id }) => id !== type.id)];
}

/** One statement: the entries' JSON and what else is asked. */
function statementSql(type: ContentType, query: EntryQuery & EntryShape, rows: string, more: readonly string[]): string {
  const json = `'[' || coalesce(string_agg(${entryJson(type, query)}, ','), '') || ']'`;
  const rest = more.map((column) => `, ${column}`).join('');
  const plan = query.populate ?? [];
  if (!mayExceed(plan, query.limit)) return `select ${json} as json${rest} from (${rows}) t`;
  const within = withinBound(plan, 'page', (related) => sourceOf(related, query));
  return `with page as materialized (${rows}) select case when ${within} then (select ${json} from page t) end as json${rest}${more.length === 0 ? '' : ' from page t'}`;
}

/** How many there are, and sort values and id of the last one. */
function endSql(query: EntryQuery): readonly string[] {
  const values = [...query.sort.map((_, index) => `t."_k${index}"`), 't."id"::text'].join(', ');
  return ['count(*)::int4 as count', `(array_agg(json_build_array(${values})))[count(*)] as last`];
}
