import { localize } from '../../application/content/localize.ts';
import { entryAsOf } from '../../application/content/read-revisions.ts';
import { refusal } from '../../domain/errors.ts';
import { getPastEntry } from '../../projections/content/entries/get-past-entry.ts';
import { entityTag, matchesVersion } from '../http/entity-tags.ts';
import { type Route, type RouteResponse, route } from '../http/route.ts';
import { encodeCursor } from './cursor.ts';
import { type EntryRouteDependencies, READS, requireAccess, requireEntryId } from './entry-access.ts';
import {
  EntryListSchema,
  EntryPageSchema,
  EntryParams,
  EntrySchema,
  ListParametersSchema,
  PageParametersSchema,
  SchemaParams,
  SingleParametersSchema,
} from './entry-schemas.ts';
import { parseAsOf, parseFields, parseListQuery, parsePageQuery, wantsCount } from './parse-list-query.ts';
import { parsePopulate } from './parse-populate.ts';
import { presentEntry } from './present-entry.ts';
import { LOCALIZED, requestedLocale } from './request-locale.ts';

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
      query: ListParametersSchema,
      responses: { 200: EntryListSchema },
      refusals: ['schema_not_found', 'schema_write_only', 'past_not_ready'],
      handler: async (request) => {
        const access = await requireAccess(request, 'read', dependencies);
        const locale = localize(access.type, requestedLocale(request));
        const query = {
          ...parseListQuery(access, request.query, () => request.context.now()),
          populate: await parsePopulate(access, request, dependencies),
          ...locale,
        };
        if (!wantsCount(request.query))
          return { status: 200, json: await lists.list(access.type, query), headers: LOCALIZED };
        const [json, count] = await Promise.all([lists.list(access.type, query), lists.count(access.type, query)]);
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
      query: PageParametersSchema,
      responses: { 200: EntryPageSchema },
      refusals: ['schema_not_found', 'schema_write_only', 'past_not_ready'],
      handler: async (request) => {
        const access = await requireAccess(request, 'read', dependencies);
        const locale = localize(access.type, requestedLocale(request));
        const query = {
          ...parsePageQuery(access, request.query, () => request.context.now()),
          populate: await parsePopulate(access, request, dependencies),
          ...locale,
        };
        const [page, total] = await Promise.all([
          lists.page(access.type, query),
          wantsCount(request.query) ? lists.count(access.type, query) : undefined,
        ]);
        const next =
          page.last && page.count === query.limit ? encodeCursor(query, { ...page.last, walk: page.walk }) : '';
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
      query: SingleParametersSchema,
      responses: { 200: EntrySchema, 304: null },
      refusals: ['schema_not_found', 'schema_write_only', 'entry_not_found', 'past_not_ready'],
      handler: async (request): Promise<RouteResponse> => {
        const access = await requireAccess(request, 'read', dependencies);
        const id = requireEntryId(request.params.id);
        const fields = parseFields(access, request.query.fields);
        const populate = await parsePopulate(access, request, dependencies);
        // Related entries can change without a new version of this entry, so a populated response is never 304.
        const known = populate === undefined ? request.header('if-none-match') : undefined;
        const locale = localize(access.type, requestedLocale(request));
        const asOf = parseAsOf(request.query.as_of, () => request.context.now());
        const shape = { hidden: access.hidden, fields, populate, ...locale };
        if (asOf !== undefined) {
          const entry = await entryAsOf({ type: access.type, id, moment: asOf }, dependencies);
          const headers = { ...LOCALIZED, ETag: entityTag(entry.version) };
          if (matchesVersion(known, entry.version)) return { status: 304, headers };
          if (populate !== undefined)
            return {
              status: 200,
              json: await getPastEntry({ type: access.type, entry, asOf, shape }, dependencies),
              headers,
            };
          const resolved = locale ? { resolved_locale: locale.resolvedLocale } : {};
          return {
            status: 200,
            body: { ...presentEntry(access.type, entry, access.hidden, fields), ...resolved },
            headers,
          };
        }
        const entry = await reads.get(access.type, id, shape);
        if (!entry) throw refusal('entry_not_found');
        const headers = { ...LOCALIZED, ETag: entityTag(entry.version) };
        return matchesVersion(known, entry.version)
          ? { status: 304, headers }
          : { status: 200, json: entry.json, headers };
      },
    }),
  ];
}
