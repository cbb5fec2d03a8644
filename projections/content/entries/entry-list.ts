import type { ContentType } from '../../../domain/content/content-type.ts';
import type { CursorValue, EntryQuery } from '../../../domain/content/entry-query.ts';
import { type PopulatePlan, plannedTypes } from '../../../domain/content/populate-plan.ts';
import { type GlobalPosition, parsePosition } from '../../../domain/event.ts';
import type { Database, Queryable } from '../../../infrastructure/postgres/database.ts';
import type { BoundValues } from './conditions.ts';
import { type EntryShape, entryJson, shapeKey, sourceOf } from './entry-json.ts';
import { type Conditions, countSql, hasChangedSql, rowsSql, walkRowsSql } from './list-rows.ts';
import type { PastReader } from './past-reader.ts';
import { pastSources } from './past-rows.ts';
import { mayExceed, populateRefusal, withinBound } from './populate-bound.ts';
import { READ_MODEL_POSITION } from './read-model-position.ts';
import { MAX_RESPONSE_BYTES, boundedEachRow, boundedRows, isTooLarge, refusingLarge } from './response-size.ts';
import type { Statement, StatementCache } from './statements.ts';

/** One page of a list: its entries as the text of a JSON array, and where the next page begins. */
export type EntryPage = {
  readonly json: string;
  readonly count: number;
  /** Sort values and id of the last entry; undefined for an empty page. */
  readonly last: { readonly values: readonly CursorValue[]; readonly id: string } | undefined;
  /**
   * Position of the read model when the first page of this walk was read; a walk is the sequence of pages that one
   * client reads by following cursors. Undefined where entries cannot move between pages: at a point in time, and in
   * the list of deleted entries.
   */
  readonly walk: GlobalPosition | undefined;
};

export type EntryList = {
  /**
   * The entries of a list as one JSON array, with populated entries, read by a single statement.
   * @throws `invalid_query_parameter` naming `populate` when the response would contain too many related entries, and
   *   naming `limit` or `populate` when it would be too large
   * @throws `past_not_ready` while the changed entries of the point in time are still being gathered
   */
  list(type: ContentType, query: EntryQuery): Promise<string>;
  /**
   * As `list`, with the place where the next page begins. Every page of a walk sorts each entry by the values that it
   * had when the walk began, or when it was created, if that was later. So no entry is repeated or skipped when entries
   * change between two pages. The page shows the current values of an entry, and leaves it out if it has been deleted
   * or no longer matches.
   */
  page(type: ContentType, query: EntryQuery): Promise<EntryPage>;
  /** The number of entries that match the conditions. */
  count(type: ContentType, query: Conditions): Promise<number>;
};

export type EntryListOptions = {
  /** May be a replica that lags behind. */
  readonly database: Pick<Database, 'query' | 'execute'>;
  /** Holds every change that any page has shown, so it does not lag behind `database`. */
  readonly primary: Pick<Database, 'query' | 'execute'>;
  readonly statements: StatementCache;
  readonly past: PastReader;
  /** Largest JSON text of a list in bytes. Default: 16 MiB. */
  readonly maxBytes?: number | undefined;
};

type PageRow = {
  readonly json: string | null;
  readonly count: number;
  readonly last: CursorValue[] | null;
  readonly walk?: string | null;
  readonly changed?: boolean;
};

/**
 * What a statement returns: the JSON of a list, or with `page` also where the page ends. With `measured` it adds up the
 * bytes of the entries and ends with an error when they exceed the bound. Without it, it compares each entry with its
 * share of the bound, which costs less, and ends with an error at an entry that exceeds its share.
 */
type StatementKind = { readonly page: boolean; readonly measured: boolean };

/**
 * What to read: the query, the SQL of its rows with the bound parameters, and where else than the live tables to read.
 */
type Selection = {
  readonly type: ContentType;
  readonly query: EntryQuery;
  readonly rows: string;
  readonly parameters: BoundValues;
  /** Further columns of the result. */
  readonly more?: readonly string[];
  readonly sources?: EntryShape['sources'];
};

/** Lists of entries of the live read model, and of points in time. */
export function createEntryList({
  database,
  primary,
  statements,
  past,
  maxBytes = MAX_RESPONSE_BYTES,
}: EntryListOptions): EntryList {
  /** Statements whose response had an entry larger than its share: their responses are measured from then on. */
  const largeResponses = new WeakSet<Statement>();

  /** Runs a statement of the selection. @throws `invalid_query_parameter` when the response would be too large */
  async function readRow(queryable: Queryable, selection: Selection, page: boolean): Promise<PageRow> {
    const { values } = selection.parameters;
    const { populate, limit } = selection.query;
    const run = async ({ text, name }: Statement): Promise<PageRow | undefined> =>
      (await queryable.query<PageRow>(text, values, name))[0];
    const measure = () => run(statementOf({ page, measured: true }, selection));
    const compare = async (): Promise<PageRow | undefined> => {
      const statement = statementOf({ page, measured: false }, selection);
      if (largeResponses.has(statement)) return measure();
      try {
        return await run(statement);
      } catch (error) {
        if (!isTooLarge(error)) throw error;
        largeResponses.add(statement);
        return measure();
      }
    };
    // A transaction ends with the first error, so only a statement of its own is compared first.
    const mayCompare = (queryable === database || queryable === primary) && !mayExceed(populate ?? [], limit);
    const parameter = populate === undefined ? 'limit' : 'populate';
    const row = await refusingLarge({ parameter, maxBytes }, mayCompare ? compare : measure);
    if (row?.json == null) throw populateRefusal();
    return row;
  }

  async function readList(
    queryable: Queryable,
    type: ContentType,
    query: EntryQuery,
    sources?: EntryShape['sources'],
  ): Promise<string> {
    const parameters: BoundValues = { values: [] };
    const rows = rowsSql(type, { ...query, sources }, parameters);
    const { json } = await readRow(queryable, { type, query, rows, parameters, sources }, false);
    return json ?? '[]';
  }

  function readPage(queryable: Queryable, selection: Selection): Promise<PageRow> {
    return readRow(queryable, selection, true);
  }

  /** A page on which the entries have the places that they had when the walk began. */
  function readWalkPage(type: ContentType, query: EntryQuery, walk: GlobalPosition): Promise<PageRow> {
    return past.read([type], { position: walk }, async (tx, sets) => {
      const parameters: BoundValues = { values: [] };
      const set = sets.get(type.id);
      const rows = set ? walkRowsSql(type, query, { set, walk, parameters }) : rowsSql(type, query, parameters);
      return readPage(tx, { type, query, rows, parameters });
    });
  }

  /** A page at the point in time `asOf`. */
  function readPastPage(type: ContentType, query: EntryQuery, asOf: string): Promise<PageRow> {
    return past.read(typesOf(type, query.populate), { time: asOf }, async (tx, sets) => {
      const sources = pastSources(sets);
      const parameters: BoundValues = { values: [] };
      const rows = rowsSql(type, { ...query, sources }, parameters);
      return readPage(tx, { type, query, rows, parameters, sources });
    });
  }

  return {
    list: (type, query) =>
      query.asOf === undefined
        ? readList(database, type, query)
        : past.read(typesOf(type, query.populate), { time: query.asOf }, (tx, sets) =>
            readList(tx, type, query, pastSources(sets)),
          ),
    async page(type, query) {
      if (query.asOf !== undefined) return toPage(await readPastPage(type, query, query.asOf), undefined);
      // The list of deleted entries has no walk: entries appear in it and disappear from it permanently at any time.
      const walk = query.deleted === true ? undefined : query.after?.walk;
      if (walk !== undefined && past.isKnown(type, { position: walk }))
        return toPage(await readWalkPage(type, query, walk), walk);
      const parameters: BoundValues = { values: [] };
      const rows = rowsSql(type, query, parameters);
      if (walk === undefined) {
        const row = await readPage(database, {
          type,
          query,
          rows,
          parameters,
          more: [`${READ_MODEL_POSITION} as walk`],
        });
        return toPage(row, query.deleted === true ? undefined : parsePosition(row.walk ?? ''));
      }
      // Until an entry of the type changes, its current place is also its place at the start of the walk.
      const changed = `${hasChangedSql(type, walk, parameters)} as changed`;
      const row = await readPage(primary, { type, query, rows, parameters, more: [changed] });
      return toPage(row.changed === true ? await readWalkPage(type, query, walk) : row, walk);
    },
    async count(type, query) {
      const parameters: BoundValues = { values: [] };
      const count = async (queryable: Queryable, sources?: EntryShape['sources']): Promise<number> => {
        const text = countSql(type, { ...query, sources }, parameters);
        const [row] = await queryable.query<{ count: number }>(text, parameters.values);
        return row?.count ?? 0;
      };
      return query.asOf === undefined
        ? count(database)
        : past.read([type], { time: query.asOf }, (tx, sets) => count(tx, pastSources(sets)));
    },
  };

  /**
   * The statement of a selection. The text of the rows contains every column, condition and limit, so together with the
   * shape it identifies the statement in the cache. A statement of a point in time is used once and is not cached.
   */
  function statementOf(
    { page, measured }: StatementKind,
    { type, query, rows, more = [], sources }: Selection,
  ): Statement {
    const compile = (): string => {
      const columns = page ? [...endSql(query), ...more] : more;
      return statementSql({ type, query: { ...query, sources, maxBytes, measured }, rows, columns });
    };
    if (sources) return { text: compile() };
    const kind = `${page ? 'page' : 'list'}${measured ? ' measured' : ''}`;
    return statements.get(`${kind} ${shapeKey(type, query)} ${[rows, ...more].join()}`, compile);
  }
}

function toPage({ json, count, last }: PageRow, walk: GlobalPosition | undefined): EntryPage {
  const id = last?.at(-1);
  return {
    json: json ?? '[]',
    count,
    last: last && typeof id === 'string' ? { values: last.slice(0, -1), id } : undefined,
    walk,
  };
}

/** The type and every type whose entries are populated. */
function typesOf(type: ContentType, plan: PopulatePlan = []): readonly ContentType[] {
  return [type, ...plannedTypes(plan).filter(({ id }) => id !== type.id)];
}

/** One statement that returns the entries' JSON and the further columns. */
function statementSql({
  type,
  query,
  rows,
  columns,
}: {
  readonly type: ContentType;
  readonly query: EntryQuery & EntryShape & Pick<StatementKind, 'measured'> & { readonly maxBytes: number };
  readonly rows: string;
  readonly columns: readonly string[];
}): string {
  const json = `'[' || coalesce(string_agg(t."_json", ','), '') || ']'`;
  const keys = columns.length === 0 ? [] : ['id', ...query.sort.map((_, index) => `_k${index}`)];
  const carried = keys.map((name) => `"${name}"`);
  const text = entryJson(type, query);
  const rest = columns.map((column) => `, ${column}`).join('');
  if (!query.measured) {
    const maxRowBytes = Math.floor(query.maxBytes / Math.max(query.limit, 1));
    const compared = boundedEachRow({ json: text, from: `(${rows}) t`, carried, maxRowBytes });
    return `select ${json} as json${rest} from ${compared} t`;
  }
  const measuredRows = (from: string): string =>
    boundedRows({ json: text, from, carried, maxBytes: query.maxBytes, isPage: true });
  const plan = query.populate ?? [];
  if (!mayExceed(plan, query.limit)) return `select ${json} as json${rest} from ${measuredRows(`(${rows}) t`)} t`;
  const within = withinBound(plan, 'page', (related) => sourceOf(related, query));
  return `with page as materialized (${rows})
    select case when ${within} then (select ${json}
    from ${measuredRows('page t')} t) end as json${rest}${columns.length === 0 ? '' : ' from page t'}`;
}

/** Columns with the number of entries on the page, and the sort values and id of the last one. */
function endSql(query: EntryQuery): readonly string[] {
  const values = [...query.sort.map((_, index) => `t."_k${index}"`), 't."id"::text'].join(', ');
  return ['count(*)::int4 as count', `(array_agg(json_build_array(${values})))[count(*)] as last`];
}
