import { Type } from '@sinclair/typebox';
import type { AccessRules } from '../../application/ports/access-rules.ts';
import type { ContentTypeDefinition } from '../../domain/content/definition.ts';
import { holdsRole } from '../../domain/identity/principal.ts';
import type { ContentTypeQueries } from '../../projections/content/content-types/queries.ts';
import { visibleTypes } from '../content/visible-types.ts';
import { matchesTag } from '../http/entity-tags.ts';
import { type OpenApiDocument, openApiDocument } from '../http/openapi.ts';
import { PROBES } from '../http/probes.ts';
import { type Route, type RouteRequest, type RouteResponse, route } from '../http/route.ts';
import { documentWithContentTypes } from './content-document.ts';
import { type SentDocument, documentCache, sentDocument } from './sent-document.ts';

const SHARED = {
  api: 'admin',
  method: 'GET',
  tag: 'platform',
  responses: { 200: Type.Object({}, { additionalProperties: true, description: 'An OpenAPI document' }), 304: null },
} as const;

export type OpenApiRouteDependencies = {
  /** All routes, including those of this file. Called on the first request. */
  readonly routes: () => readonly Route[];
  readonly version: string;
  readonly queries: Pick<ContentTypeQueries, 'list'>;
  readonly accessRules: AccessRules;
};

/** The documents, with the routes that each contains: the Content API, the Admin API or both. */
export const DOCUMENTS = {
  public: ({ api }: Route) => api === 'content',
  admin: ({ api, path }: Route) => path.startsWith('/api/admin/') || (api === 'admin' && PROBES.has(path)),
  all: () => true,
} as const satisfies Readonly<Record<string, (route: Route) => boolean>>;
export type DocumentName = keyof typeof DOCUMENTS;

/** Creates a document. Those with the Content API also describe the given content types. */
export function openApiOf(
  name: DocumentName,
  {
    routes,
    version,
    types,
  }: { readonly routes: readonly Route[]; readonly version: string; readonly types: readonly ContentTypeDefinition[] },
): OpenApiDocument {
  const document = openApiDocument(routes.filter(DOCUMENTS[name]), { title: TITLES[name], version });
  return name === 'admin' ? document : documentWithContentTypes(document, types);
}

const TITLES: Readonly<Record<DocumentName, string>> = {
  public: 'Palimpsest Content API',
  admin: 'Palimpsest Admin API',
  all: 'Palimpsest',
};

type OnDocument = Pick<RouteRequest<unknown, unknown, unknown>, 'header' | 'principal' | 'tenant'>;

/**
 * The OpenAPI documents. Admins get the document of the Content API on the Admin API; on the Content API every
 * credential gets it. It describes the content types that the caller may read. The Admin API and the document of both
 * are for super admins.
 */
export function openApiRoutes(dependencies: OpenApiRouteDependencies): readonly Route[] {
  const { routes, version, queries, accessRules } = dependencies;
  const cached = documentCache();

  async function documentResponse(
    name: DocumentName,
    { header, principal, tenant }: OnDocument,
  ): Promise<RouteResponse> {
    const types =
      name === 'admin' ? [] : visibleTypes(await queries.list(tenant), { tenant, principal }, { accessRules });
    const { json, tag } = cached(`${name}:${JSON.stringify(types)}`, (): SentDocument =>
      sentDocument(JSON.stringify(openApiOf(name, { routes: routes(), version, types }))),
    );
    const headers = { ETag: tag, 'Cache-Control': 'private, no-cache' };
    return matchesTag(header('if-none-match'), tag) ? { status: 304, headers } : { status: 200, json, headers };
  }

  const admins = { kind: 'credential', roles: ['admin', 'super_admin'] } as const;
  return [
    route({
      ...SHARED,
      path: '/api/admin/openapi/public.json',
      operation: 'openApiPublic',
      summary: 'Get the OpenAPI document of the Content API, with the content types of the tenant',
      access: admins,
      handler: (request) => documentResponse('public', request),
    }),
    route({
      ...SHARED,
      path: '/api/admin/openapi.json',
      operation: 'openApi',
      summary: 'Get the OpenAPI document of the Content API; for super admins, of both APIs',
      access: admins,
      handler: (request) =>
        documentResponse(
          request.principal && holdsRole(request.principal, ['super_admin']) ? 'all' : 'public',
          request,
        ),
    }),
    route({
      ...SHARED,
      path: '/api/admin/openapi/admin.json',
      operation: 'openApiAdmin',
      summary: 'Get the OpenAPI document of the Admin API',
      access: { kind: 'credential', roles: ['super_admin'] },
      handler: (request) => documentResponse('admin', request),
    }),
    route({
      ...SHARED,
      api: 'content',
      path: '/api/v1/openapi.json',
      operation: 'openApiContent',
      summary:
        'Get the OpenAPI document of the Content API, with the content types that the caller may read. API keys need the scope schemas:read',
      access: { kind: 'credential' },
      handler: (request) => documentResponse('public', request),
    }),
  ];
}
