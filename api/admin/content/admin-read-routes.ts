import { Type } from '@sinclair/typebox';
import { readableTypes } from '../../../application/content/content-access.ts';
import { SLUG_KEY } from '../../../domain/content/entry-title.ts';
import { refusal } from '../../../domain/errors.ts';
import { hasAdminRole } from '../../../domain/identity/roles.ts';
import { READS } from '../../content/entry-access.ts';
import { parsePaging, parseSearch } from '../../content/parse-list-query.ts';
import { LOCALIZED, requestedLocale } from '../../content/requested-locale.ts';
import { entityTag, matchesVersion } from '../../http/entity-tags.ts';
import { invalidParameter } from '../../http/query-parameters.ts';
import { type Route, route } from '../../http/route.ts';
import {
  type AdminContentRouteDependencies,
  requireEntryAccess,
  requirePrincipal,
  requireSchemaAccess,
} from './admin-access.ts';
import { presentAdminEntry } from './present-admin-entry.ts';
import { AdminEntry, AdminEntryPage, AdminListQuery, EntryParams, LocaleQuery, SlugQuery } from './schemas.ts';

const SHARED = {
  api: 'admin',
  tag: 'content',
  feature: 'content',
  access: { kind: 'session' },
  method: 'GET',
  reads: READS,
} as const;

const STATUSES = ['draft', 'published', 'archived', 'deleted'] as const;

/** Routes of the console that read entries. */
export function adminReadRoutes(dependencies: AdminContentRouteDependencies): readonly Route[] {
  return [
    route({
      ...SHARED,
      path: '/api/admin/content',
      operation: 'listAdminContent',
      summary:
        'List the entries of all content types or of one, latest change first; status=deleted lists soft-deleted entries',
      grants: ['content:read'],
      query: AdminListQuery,
      responses: { 200: AdminEntryPage },
      refusals: ['schema_not_found', 'permission_denied', 'insufficient_permissions'],
      handler: async ({ query, tenant, ...request }) => {
        const principal = requirePrincipal({ tenant, ...request });
        const locale = requestedLocale({ query, ...request });
        const { limit, offset } = parsePaging(query);
        const status = parseStatus(query.status);
        if (status === 'deleted' && !hasAdminRole(principal.roles)) throw refusal('insufficient_permissions');
        const all = await dependencies.typesOf(tenant);
        const matching = all.filter(
          (type) =>
            (query.schema === undefined || type.name === query.schema) && (status === 'deleted' || !type.deleted),
        );
        if (query.schema !== undefined && matching.length === 0) throw refusal('schema_not_found');
        const readable = readableTypes(matching, { tenant, roles: principal.roles }, dependencies);
        if (query.schema !== undefined && readable.length === 0) throw refusal('permission_denied');
        const { entries, total } = await dependencies.listAdminEntries({
          tenant,
          types: readable,
          status,
          search: parseSearch(query.q),
          limit,
          offset,
        });
        const access = new Map(readable.map((granted) => [granted.type.id, granted]));
        const data = entries.flatMap(({ type, entry, deletedAt }) => {
          const granted = access.get(type.id);
          return granted ? [presentAdminEntry(granted, entry, { deletedAt, locale })] : [];
        });
        return { status: 200, body: { data, total, limit, offset }, headers: LOCALIZED };
      },
    }),
    route({
      ...SHARED,
      path: '/api/admin/content/{id}',
      operation: 'getAdminEntry',
      summary: 'Get one entry',
      grants: ['content:read'],
      params: EntryParams,
      query: LocaleQuery,
      responses: { 200: AdminEntry, 304: null },
      refusals: ['entry_not_found', 'permission_denied'],
      handler: async (request) => {
        const { access, id } = await requireEntryAccess(request, 'read', dependencies);
        const entry = await dependencies.reads.load(access.type, id);
        if (!entry) throw refusal('entry_not_found');
        const locale = requestedLocale(request);
        const headers = { ...LOCALIZED, ETag: entityTag(entry.version) };
        if (matchesVersion(request.header('if-none-match'), entry.version)) return { status: 304, headers };
        return { status: 200, body: presentAdminEntry(access, entry, { locale }), headers };
      },
    }),
    route({
      ...SHARED,
      path: '/api/admin/content/slug/{slug}',
      operation: 'getAdminEntryBySlug',
      summary:
        'Get one entry by its slug; the parameter schema is required when several content types have an entry with that slug',
      grants: ['content:read'],
      params: Type.Object({ slug: Type.String() }),
      query: SlugQuery,
      responses: { 200: AdminEntry },
      refusals: ['schema_not_found', 'permission_denied', 'entry_not_found'],
      handler: async (request) => {
        const { params, query, tenant } = request;
        const principal = requirePrincipal(request);
        const locale = requestedLocale(request);
        const readable =
          query.schema === undefined
            ? readableTypes(
                (await dependencies.typesOf(tenant)).filter((type) => !type.deleted),
                { tenant, roles: principal.roles },
                dependencies,
              )
            : [await requireSchemaAccess({ caller: request, schema: query.schema, action: 'read' }, dependencies)];
        const [found, ...others] = await dependencies.slugs.find(
          // A look-up would show a slug that is hidden from the caller.
          readable.filter(({ hidden }) => !hidden.has(SLUG_KEY)).map(({ type }) => type),
          params.slug,
        );
        if (others.length > 0) throw invalidParameter('schema');
        const access = readable.find(({ type }) => type === found?.type);
        const entry = found && (await dependencies.reads.load(found.type, found.id));
        if (!entry || !access) throw refusal('entry_not_found');
        return {
          status: 200,
          body: presentAdminEntry(access, entry, { locale }),
          headers: { ...LOCALIZED, ETag: entityTag(entry.version) },
        };
      },
    }),
  ];
}

/** The parameter `status`. @throws `invalid_query_parameter` for an unknown one */
function parseStatus(text: string | undefined): (typeof STATUSES)[number] | undefined {
  if (text === undefined) return undefined;
  const status = STATUSES.find((status) => status === text);
  if (!status) throw invalidParameter('status');
  return status;
}
