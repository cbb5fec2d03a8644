import type { ContentType } from '../../domain/content/content-type.ts';
import { storedFields } from '../../domain/content/entry-fields.ts';
import { parseDatetime } from '../../domain/content/entry-value.ts';
import { isStored } from '../../domain/content/field-types.ts';
import { queryColumn, SYSTEM_FIELDS } from '../../domain/content/entry-query.ts';
import type { EntryQuery, SortKey } from '../../domain/content/entry-query.ts';
import { refusal } from '../../domain/errors.ts';
import type { AppError } from '../../domain/errors.ts';
import { decodeCursor } from './cursor.ts';
import { parseFilters } from './parse-filters.ts';

/** Query parameters of the lists as they arrive. */
export type ListParameters = {
  readonly limit?: string;
  readonly offset?: string;
  readonly cursor?: string;
  readonly count?: string;
  readonly sort?: string;
  readonly fields?: string;
  readonly filters?: unknown;
  readonly q?: string;
  readonly as_of?: string;
};

export type ListAccess = { readonly type: ContentType; readonly hidden: ReadonlySet<string>; readonly seesDeleted?: boolean };

const MAX_SORT_KEYS = 5;
const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 200;
const DEFAULT_PAGE = 20;
const MAX_PAGE = 1000;
/** Characters of a search. */
const MAX_SEARCH = 500;

/** `limit` 1 to 200, default 25, and `offset` (spec 4, lists). @throws `invalid_query_parameter` with the name */
export function parsePaging({ limit, offset }: Pick<ListParameters, 'limit' | 'offset'>): { readonly limit: number; readonly offset: number } {
  return { limit: wholeNumber('limit', limit, { least: 1, most: MAX_LIMIT, preset: DEFAULT_LIMIT }), offset: wholeNumber('offset', offset, { least: 0, most: 1e9, preset: 0 }) };
}

/** Query of the offset list. @throws `invalid_query_parameter` with the name */
export function parseListQuery(access: ListAccess, parameters: ListParameters, now: () => Date): EntryQuery {
  return { ...parseCommon(access, parameters, now), ...parsePaging(parameters) };
}

/** Query of the cursor list: `limit` 1 to 1000, default 20, and 20 for more than 1000 (spec 1). @throws `invalid_query_parameter` with the name */
export function parsePageQuery(access: ListAccess, parameters: ListParameters, now: () => Date): EntryQuery {
  const common = parseCommon(access, parameters, now);
  const asked = wholeNumber('limit', parameters.limit, { least: 1, most: Number.MAX_SAFE_INTEGER, preset: DEFAULT_PAGE });
  // An empty cursor is that of the first page: clients send back what the last page gave them.
  const after = parameters.cursor === undefined || parameters.cursor === '' ? undefined : decodeCursor(common, parameters.cursor);
  if (after === undefined && parameters.cursor !== undefined && parameters.cursor !== '') throw invalid('cursor');
  return { ...common, limit: asked > MAX_PAGE ? DEFAULT_PAGE : asked, offset: 0, after };
}

/** `count=true` asks for `X-Total-Count`. @throws `invalid_query_parameter` */
export function wantsCount({ count }: Pick<ListParameters, 'count'>): boolean {
  if (count === undefined || count === 'false') return false;
  if (count !== 'true') throw invalid('count');
  return true;
}

/** `fields=title,slug`: keys of `data` to show. @throws `invalid_query_parameter` for an unknown or hidden one */
export function parseFields({ type, hidden }: ListAccess, fields: string | undefined): readonly string[] | undefined {
  if (fields === undefined) return undefined;
  const stored = storedFields(type.definition);
  return fields.split(',').flatMap((given) => {
    const name = given.trim();
    const field = stored.find(({ key, definition }) => key === name || definition.name === name);
    if (field && !hidden.has(field.key)) return [field.key];
    // The other sides of relations are shown where they are populated.
    if (SYSTEM_FIELDS.has(name) || (!hidden.has(name) && type.definition.fields.some((other) => other.name === name && !isStored(other)))) return [];
    throw invalid('fields');
  });
}

/** `q`: words to find; blank ones count as none. @throws `invalid_query_parameter` over 500 characters */
export function parseSearch(q: string | undefined): string | undefined {
  if (q === undefined || q.trim() === '') return undefined;
  if (q.length > MAX_SEARCH) throw invalid('q');
  return q;
}

/** `as_of`: a moment of the past. @returns it in UTC with milliseconds @throws `invalid_query_parameter` for what is none, or lies ahead */
export function parseAsOf(text: string | undefined, now: () => Date): string | undefined {
  if (text === undefined) return undefined;
  const moment = parseDatetime(text);
  if (moment === undefined || moment > now().toISOString()) throw invalid('as_of');
  return moment;
}

function parseCommon(access: ListAccess, parameters: ListParameters, now: () => Date): Omit<EntryQuery, 'limit' | 'offset' | 'after' | 'populate'> {
  const { deleted, filters } = splitDeleted(access, parameters.filters);
  // What was deleted at a moment of the past, no read model knows.
  if (deleted && parameters.as_of !== undefined) throw invalid('as_of');
  return {
    conditions: parseFilters(access, filters),
    deleted,
    sort: parseSort(access, parameters.sort),
    fields: parseFields(access, parameters.fields),
    hidden: access.hidden,
    search: parseSearch(parameters.q),
    asOf: parseAsOf(parameters.as_of, now),
  };
}

/** `filters[_deleted]=true` lists what soft delete has kept; nobody but admin roles knows of it (spec 4 A). */
function splitDeleted({ seesDeleted = false }: ListAccess, filters: unknown): { readonly deleted: boolean; readonly filters: unknown } {
  if (typeof filters !== 'object' || filters === null || !('_deleted' in filters)) return { deleted: false, filters };
  const { _deleted, ...others } = filters;
  if (!seesDeleted || (_deleted !== 'true' && _deleted !== 'false')) throw invalid('filters[_deleted]');
  return { deleted: _deleted === 'true', filters: others };
}

function parseSort({ type, hidden }: ListAccess, sort = '-created_at'): readonly SortKey[] {
  const keys = sort.split(',').map((given) => {
    const name = given.trim();
    const descending = name.startsWith('-');
    const column = queryColumn(type, hidden, descending ? name.slice(1) : name);
    if (!column || column.type === 'json' || column.many === true) throw invalid('sort');
    return { column, descending };
  });
  if (keys.length > MAX_SORT_KEYS || new Set(keys.map(({ column }) => column.column)).size !== keys.length) throw invalid('sort');
  return keys;
}

/** A parameter that is a whole number. @throws `invalid_query_parameter` with the name */
export function wholeNumber(name: string, text: string | undefined, { least, most, preset }: { readonly least: number; readonly most: number; readonly preset: number }): number {
  if (text === undefined) return preset;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) throw invalid(name);
  return value;
}

/** A refused parameter, by the name it was sent under. */
export function invalid(name: string): AppError {
  return refusal('invalid_query_parameter', { message: `invalid query parameter: ${name.slice(0, 200)}` });
}
