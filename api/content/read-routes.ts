import { entryAsOf } from '../../application/content/read-revisions.ts';
import { parseDatetime } from '../../domain/content/entry-value.ts';
import { refusal } from '../../domain/errors.ts';
import type { Answer, Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { encodeCursor } from './cursor.ts';
import { entityTag, isKnown } from './entity-tag.ts';
import { READS, requireAccess, requireEntryId } from './entry-access.ts';
import type { EntryRouteDependencies } from './entry-access.ts';
import { EntryListSchema, EntryPageSchema, EntryParams, EntrySchema, ListParametersSchema, PageParametersSchema, SchemaParams, SingleParametersSchema } from './entry-schemas.ts';
import { invalid, parseFields, parseListQuery, parsePageQuery, wantsCount } from './parse-list-query.ts';
import { parsePopulate } from './parse-populate.ts';
import { presentEntry } from './present-entry.ts';

const DECLARED = { api: 'content', tag: 'content', access: { kind: 'credential' }, reads: READS } as const;

/** Reads of entries (spec 1, Content API). */
export function readRoutes(dependencies: EntryRouteDependencies): readonly Route[] {
  const { reads, lists } = dependencies;
  return [
    route({
      ...DECLARED,
      method: 'GET',
      path: '/api/v1/content/{schema}',
      operation: 'listEntries',
      summary: 'List entries',
      params: SchemaParams,
      query: ListParametersSchema,
      answers: { 200: EntryListSchema },
      refusals: ['schema_not_found', 'schema_write_only'],
      handler: async (request) => {
        const access = await requireAccess(request, 'read', dependencies);
        const query = { ...parseListQuery(access, request.query), populate: await parsePopulate(access, request, dependencies) };
        if (!wantsCount(request.query)) return { status: 200, json: await lists.list(access.type, query) };
        const [json, count] = await Promise.all([lists.list(access.type, query), lists.count(access.type, query)]);
        return { status: 200, json, headers: { 'X-Total-Count': String(count) } };
      },
    }),
    route({
      ...DECLARED,
      method: 'GET',
      path: '/api/v1/content/{schema}/cursor',
      operation: 'pageEntries',
      summary: 'List entries page by page; no entry comes twice when rows change during the walk',
      params: SchemaParams,
      query: PageParametersSchema,
      answers: { 200: EntryPageSchema },
      refusals: ['schema_not_found', 'schema_write_only'],
      handler: async (request) => {
        const access = await requireAccess(request, 'read', dependencies);
        const query = { ...parsePageQuery(access, request.query), populate: await parsePopulate(access, request, dependencies) };
        const [page, total] = await Promise.all([lists.page(access.type, query), wantsCount(request.query) ? lists.count(access.type, query) : undefined]);
        const next = page.last && page.count === query.limit ? encodeCursor(query.sort, page.last) : '';
        return { status: 200, json: `{"data":${page.json},"next_cursor":"${next}"}`, ...(total === undefined ? {} : { headers: { 'X-Total-Count': String(total) } }) };
      },
    }),
    route({
      ...DECLARED,
      method: 'GET',
      path: '/api/v1/content/{schema}/{id}',
      operation: 'getEntry',
      summary: 'One entry, a draft included; with as_of as it stood at a moment',
      params: EntryParams,
      query: SingleParametersSchema,
      answers: { 200: EntrySchema, 304: null },
      refusals: ['schema_not_found', 'schema_write_only', 'entry_not_found'],
      handler: async (request): Promise<Answer> => {
        const access = await requireAccess(request, 'read', dependencies);
        const id = requireEntryId(request.params.id);
        const fields = parseFields(access, request.query.fields);
        const populate = await parsePopulate(access, request, dependencies);
        // A version says nothing of related entries, which may change without it.
        const known = populate === undefined ? request.header('if-none-match') : undefined;
        if (request.query.as_of !== undefined) {
          const moment = parseDatetime(request.query.as_of);
          if (moment === undefined || moment > request.context.now().toISOString()) throw invalid('as_of');
          const entry = await entryAsOf({ type: access.type, id, moment }, dependencies);
          const headers = { ETag: entityTag(entry.version) };
          return isKnown(known, entry.version) ? { status: 304, headers } : { status: 200, body: presentEntry(access.type, entry, access.hidden, fields), headers };
        }
        const entry = await reads.get(access.type, id, { hidden: access.hidden, fields, populate });
        if (!entry) throw refusal('entry_not_found');
        const headers = { ETag: entityTag(entry.version) };
        return isKnown(known, entry.version) ? { status: 304, headers } : { status: 200, json: entry.json, headers };
      },
    }),
  ];
}
