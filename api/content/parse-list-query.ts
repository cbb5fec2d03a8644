import type { Static } from '@sinclair/typebox';
import { storedFields } from '../../domain/content/entry-fields.ts';
import { type EntryQuery, SYSTEM_FIELDS, type SortKey, queryColumn } from '../../domain/content/entry-query.ts';
import { SLUG_KEY } from '../../domain/content/entry-title.ts';
import { isStored } from '../../domain/content/field-types.ts';
import { parseDatetime } from '../../domain/datetime.ts';
import { invalidParameter, wholeNumber } from '../http/query-parameters.ts';
import type { Cursors } from './cursor.ts';
import type { EntryListQuery, EntryPageQuery } from './entry-schemas.ts';
import type { ListAccess } from './list-access.ts';
import { parseFilters } from './parse-filters.ts';

/** Query parameters of lists, by offset and by cursor, as the client sends them. */
export type ListParameters = Static<typeof EntryListQuery> & Static<typeof EntryPageQuery>;

const MAX_SORT_KEYS = 5;
const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 200;
const DEFAULT_PAGE = 20;
const MAX_PAGE = 1000;
/** Maximum length of `q`, in characters. */
const MAX_SEARCH = 500;

/** Parses `limit` (1 to 200, default 25) and `offset` (default 0). @throws `invalid_query_parameter` with the name */
export function parsePaging({ limit, offset }: Pick<ListParameters, 'limit' | 'offset'>): {
  readonly limit: number;
  readonly offset: number;
} {
  return {
    limit: wholeNumber('limit', limit, { min: 1, max: MAX_LIMIT, fallback: DEFAULT_LIMIT }),
    offset: wholeNumber('offset', offset, { min: 0, max: 1e9, fallback: 0 }),
  };
}

/** Parses the query of a list with an offset. @throws `invalid_query_parameter` with the name */
export function parseListQuery(access: ListAccess, parameters: ListParameters, now: () => Date): EntryQuery {
  return { ...parseCommon(access, parameters, now), ...parsePaging(parameters) };
}

/**
 * Parses the query of a cursor list. `limit` is 1 to 1000, default 20; a larger number counts as 20.
 * @throws `invalid_query_parameter` with the name
 */
export function parsePageQuery({
  access,
  parameters,
  now,
  cursors,
}: {
  readonly access: ListAccess;
  readonly parameters: ListParameters;
  readonly now: () => Date;
  readonly cursors: Pick<Cursors, 'decode'>;
}): EntryQuery {
  const common = parseCommon(access, parameters, now);
  const requested = wholeNumber('limit', parameters.limit, {
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    fallback: DEFAULT_PAGE,
  });
  // An empty cursor means the first page, because the last page of a list has an empty `next_cursor`.
  const after =
    parameters.cursor === undefined || parameters.cursor === '' ? undefined : cursors.decode(common, parameters.cursor);
  if (after === undefined && parameters.cursor !== undefined && parameters.cursor !== '')
    throw invalidParameter('cursor');
  return { ...common, limit: requested > MAX_PAGE ? DEFAULT_PAGE : requested, offset: 0, after };
}

/** Whether `count=true` asks for the header `X-Total-Count`. @throws `invalid_query_parameter` */
export function wantsCount({ count }: Pick<ListParameters, 'count'>): boolean {
  if (count === undefined || count === 'false') return false;
  if (count !== 'true') throw invalidParameter('count');
  return true;
}

/** Parses `fields=title,slug` into keys of `data`. @throws `invalid_query_parameter` for an unknown or hidden field */
export function parseFields({ type, hidden }: ListAccess, fields: string | undefined): readonly string[] | undefined {
  if (fields === undefined) return undefined;
  const stored = storedFields(type.definition);
  return fields.split(',').flatMap((part) => {
    const name = part.trim();
    const field = stored.find(({ key, definition }) => key === name || definition.name === name);
    if (field && !hidden.has(field.key)) return [field.key];
    // System fields are always in the response; relations without a column of their own only when populated.
    if (
      (SYSTEM_FIELDS.has(name) && !(name === 'slug' && hidden.has(SLUG_KEY))) ||
      (!hidden.has(name) && type.definition.fields.some((other) => other.name === name && !isStored(other)))
    )
      return [];
    throw invalidParameter('fields');
  });
}

/** Parses `q`, the words to find. Blank text is undefined. @throws `invalid_query_parameter` over 500 characters */
export function parseSearch(q: string | undefined): string | undefined {
  if (q === undefined || q.trim() === '') return undefined;
  if (q.length > MAX_SEARCH) throw invalidParameter('q');
  return q;
}

/**
 * Parses `as_of`, a point in time. @returns it in UTC with milliseconds
 * @throws `invalid_query_parameter` for malformed text and for a time in the future
 */
export function parseAsOf(text: string | undefined, now: () => Date): string | undefined {
  if (text === undefined) return undefined;
  const moment = parseDatetime(text);
  if (moment === undefined || moment > now().toISOString()) throw invalidParameter('as_of');
  return moment;
}

function parseCommon(
  access: ListAccess,
  parameters: ListParameters,
  now: () => Date,
): Omit<EntryQuery, 'limit' | 'offset' | 'after' | 'populate'> {
  const { deleted, filters } = splitDeleted(access, parameters.filters);
  // No read model knows which entries were deleted at a point in time.
  if (deleted && parameters.as_of !== undefined) throw invalidParameter('as_of');
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

/**
 * Takes `filters[_deleted]` out of the filters: `true` lists soft-deleted entries.
 * @throws `invalid_query_parameter` without an admin role, as for any unknown field
 */
function splitDeleted(
  { seesDeleted = false }: ListAccess,
  filters: unknown,
): { readonly deleted: boolean; readonly filters: unknown } {
  if (typeof filters !== 'object' || filters === null || !('_deleted' in filters)) return { deleted: false, filters };
  const { _deleted, ...others } = filters;
  if (!seesDeleted || (_deleted !== 'true' && _deleted !== 'false')) throw invalidParameter('filters[_deleted]');
  return { deleted: _deleted === 'true', filters: others };
}

function parseSort({ type, hidden }: ListAccess, sort = '-created_at'): readonly SortKey[] {
  const keys = sort.split(',').map((key) => {
    const name = key.trim();
    const descending = name.startsWith('-');
    const column = queryColumn(type, hidden, descending ? name.slice(1) : name);
    if (!column || column.type === 'json' || column.many === true) throw invalidParameter('sort');
    return { column, descending };
  });
  if (keys.length > MAX_SORT_KEYS || new Set(keys.map(({ column }) => column.column)).size !== keys.length)
    throw invalidParameter('sort');
  return keys;
}
