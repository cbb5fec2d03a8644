import type { operations } from '../generated/operations.ts';
import type { Filter, ListOptions, PageOptions } from './types.ts';

/** Parameter names of the OpenAPI document. When the service removes a parameter, this file no longer compiles. */
type Parameter =
  | keyof NonNullable<operations['listEntries']['parameters']['query']>
  | keyof NonNullable<operations['pageEntries']['parameters']['query']>;

/** The query string of a read, with the leading `?`. Empty without parameters. */
export function queryOf<Data>(
  { fields, populate, depth, asOf, locale, filters, sort, q, limit, ...place }: ListOptions<Data> & PageOptions<Data>,
  more: { readonly count?: boolean } = {},
): string {
  const plain: { readonly [name in Parameter]?: string | number | boolean | undefined } = {
    fields: fields?.join(','),
    populate: typeof populate === 'string' ? populate : populate?.join(','),
    depth,
    as_of: asOf instanceof Date ? asOf.toISOString() : asOf,
    locale,
    sort: typeof sort === 'string' ? sort : sort?.join(','),
    q,
    limit,
    offset: place.offset,
    cursor: place.cursor,
    count: more.count,
  };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(plain)) if (value !== undefined) query.set(name, String(value));
  for (const [field, filter] of Object.entries(filters ?? {})) appendFilter(query, `filters[${field}]`, filter);
  return textOf(query);
}

/** The query string of parameters without structure, with the leading `?`. Empty without parameters. */
export function plainQuery(parameters: { readonly [name: string]: string | number | undefined }): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, String(value));
  return textOf(query);
}

function appendFilter(query: URLSearchParams, name: string, filter: Filter): void {
  if (typeof filter !== 'object') {
    query.set(name, String(filter));
    return;
  }
  for (const [operator, value] of Object.entries(filter)) {
    // Repeat the parameter instead of joining by commas: a value may contain a comma.
    if (typeof value === 'object') for (const one of value) query.append(`${name}[${operator}][]`, String(one));
    else query.set(`${name}[${operator}]`, String(value));
  }
}

function textOf(query: URLSearchParams): string {
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
