import { type Localization, localize } from '../../application/content/localize.ts';
import { entryAsOf } from '../../application/content/read-revisions.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import type { PopulatePlan } from '../../domain/content/populate-plan.ts';
import { refusal } from '../../domain/errors.ts';
import { getPastEntry } from '../../projections/content/entries/get-past-entry.ts';
import { entityTag, matchesVersion } from '../http/entity-tags.ts';
import { type Route, type RouteRequest, type RouteResponse, route } from '../http/route.ts';
import { type Cursors, createCursors } from './cursor.ts';
import {
  type CallerAccess,
  type EntryRouteDependencies,
  READS,
  requireAccess,
  requireEntryId,
} from './entry-access.ts';
import {
  Entry,
  EntryList,
  EntryListQuery,
  EntryPage,
  EntryPageQuery,
  EntryParams,
  SchemaParams,
  SingleEntryQuery,
} from './entry-schemas.ts';
import {
  type ListParameters,
  parseAsOf,
  parseFields,
  parseListQuery,
  parsePageQuery,
  wantsCount,
} from './parse-list-query.ts';
import { parsePopulate } from './parse-populate.ts';
import { presentEntry } from './present-entry.ts';
import { LOCALIZED, requestedLocale } from './requested-locale.ts';

const SHARED = {
  api: 'content',
  tag: 'content',
  feature: 'content',
  access: { kind: 'credential' },
  reads: READS,
} as const;

/** Routes of the Content API that read entries. */
export function readRoutes(dependencies: EntryRouteDependencies): readonly Route[] {
  const { reads, lists } = dependencies;
  return [
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/v1/content/{schema}',
      operation: 'listEntries',
      summary: 'List entries',
      params: SchemaParams,
      query: EntryListQuery,
      responses: { 200: EntryList },
      refusals: ['schema_not_found', 'schema_write_only', 'past_not_ready'],
      handler: async (request) => {
        const { type, ...query } = await parseRead(
          request,
          (access) => parseListQuery(access, request.query, () => request.context.now()),
          dependencies,
        );
        if (!wantsCount(request.query)) return { status: 200, json: await lists.list(type, query), headers: LOCALIZED };
        const [json, count] = await Promise.all([lists.list(type, query), lists.count(type, query)]);
        return { status: 200, json, headers: { ...LOCALIZED, 'X-Total-Count': String(count) } };
      },
    }),
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/v1/content/{schema}/cursor',
      operation: 'pageEntries',
      summary: 'List entries page by page; no entry is repeated or skipped when entries change between the pages',
      params: SchemaParams,
      query: EntryPageQuery,
      responses: { 200: EntryPage },
      refusals: ['schema_not_found', 'schema_write_only', 'past_not_ready'],
      handler: async (request) => {
        const { type, ...query } = await parseRead(
          request,
          (access) =>
            parsePageQuery({
              access,
              parameters: request.query,
              now: () => request.context.now(),
              cursors: cursorsOf(access.type, dependencies),
            }),
          dependencies,
        );
        const [page, total] = await Promise.all([
          lists.page(type, query),
          wantsCount(request.query) ? lists.count(type, query) : undefined,
        ]);
        const next =
          page.last && page.count === query.limit
            ? cursorsOf(type, dependencies).encode(query, { ...page.last, walk: page.walk })
            : '';
        return {
          status: 200,
          json: `{"data":${page.json},"next_cursor":"${next}"}`,
          headers: total === undefined ? LOCALIZED : { ...LOCALIZED, 'X-Total-Count': String(total) },
        };
      },
    }),
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/v1/content/{schema}/{id}',
      operation: 'getEntry',
      summary: 'Get one entry, also a draft; with as_of, as it was at a point in time',
      params: EntryParams,
      query: SingleEntryQuery,
      responses: { 200: Entry, 304: null },
      refusals: ['schema_not_found', 'schema_write_only', 'entry_not_found', 'past_not_ready'],
      handler: async (request): Promise<RouteResponse> => {
        const { type, id, ...shape } = await parseRead(
          request,
          (access) => ({
            id: requireEntryId(request.params.id),
            hidden: access.hidden,
            fields: parseFields(access, request.query.fields),
          }),
          dependencies,
        );
        // Related entries can change without a new version of this entry, so a populated response is never 304.
        const ifNoneMatch = shape.populate === undefined ? request.header('if-none-match') : undefined;
        const asOf = parseAsOf(request.query.as_of, () => request.context.now());
        if (asOf !== undefined) {
          const entry = await entryAsOf({ type, id, moment: asOf }, dependencies);
          const headers = { ...LOCALIZED, ETag: entityTag(entry.version) };
          if (matchesVersion(ifNoneMatch, entry.version)) return { status: 304, headers };
          if (shape.populate !== undefined)
            return {
              status: 200,
              json: await getPastEntry({ type, entry, asOf, shape }, dependencies),
              headers,
            };
          const { hidden, fields, resolvedLocale } = shape;
          const resolved = resolvedLocale === undefined ? {} : { resolved_locale: resolvedLocale };
          return {
            status: 200,
            body: { ...presentEntry({ type, entry, hidden, fields }), ...resolved },
            headers,
          };
        }
        const entry = await reads.get(type, id, shape);
        if (!entry) throw refusal('entry_not_found');
        const headers = { ...LOCALIZED, ETag: entityTag(entry.version) };
        return matchesVersion(ifNoneMatch, entry.version)
          ? { status: 304, headers }
          : { status: 200, json: entry.json, headers };
      },
    }),
  ];
}

function cursorsOf({ id }: ContentType, { signCursor }: Pick<EntryRouteDependencies, 'signCursor'>): Cursors {
  return createCursors({ typeId: id, sign: signCursor });
}

/**
 * What every read of entries takes from its request: the content type, what `parse` returns, `populate` and the locale.
 * @throws `schema_not_found`, `permission_denied`, `invalid_query_parameter`, and what `parse` throws
 */
async function parseRead<
  Query extends object,
  Params extends { readonly schema: string },
  Parameters extends Pick<ListParameters, 'populate' | 'depth' | 'locale'>,
>(
  request: RouteRequest<Params, Parameters, unknown>,
  parse: (access: CallerAccess) => Query,
  dependencies: EntryRouteDependencies,
): Promise<
  Query & Partial<Localization> & { readonly type: ContentType; readonly populate: PopulatePlan | undefined }
> {
  const access = await requireAccess(request, 'read', dependencies);
  const query = parse(access);
  const populate = await parsePopulate(access, request, dependencies);
  return { ...query, type: access.type, populate, ...localize(access.type, requestedLocale(request)) };
}
