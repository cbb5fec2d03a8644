import { Type } from '@sinclair/typebox';
import type { AccessRules } from '../../application/ports/access-rules.ts';
import type { ContentTypeDefinition } from '../../domain/content/definition.ts';
import { holdsRole } from '../../domain/identity/principal.ts';
import { isOneOf } from '../http/entity-tags.ts';
import type { OpenApiDocument } from '../http/openapi.ts';
import { openApiDocument } from '../http/openapi.ts';
import type { Answer, Route, RouteRequest } from '../http/route.ts';
import { route } from '../http/route.ts';
import type { ContentTypeQueries } from '../../projections/content/content-types/queries.ts';
import { visibleTypes } from '../content/visible-types.ts';
import { withContentTypes } from './content-document.ts';
import type { SentDocument } from './sent-document.ts';
import { documentCache, sentDocument } from './sent-document.ts';

export type OpenApiRoutesDependencies = {
  /** The whole table, these routes included; asked on the first request. */
  readonly routes: () => readonly Route[];
  readonly version: string;
  readonly queries: Pick<ContentTypeQueries, 'list'>;
  readonly accessRules: AccessRules;
};

/** Which routes a document holds: the Content API, the Admin API, both. */
export const DOCUMENTS = {
  public: ({ api }: Route) => api === 'content',
  admin: ({ path }: Route) => path.startsWith('/api/admin/'),
  all: () => true,
} as const satisfies Readonly<Record<string, (route: Route) => boolean>>;
export type DocumentName = keyof typeof DOCUMENTS;

/** One of the documents; those with the Content API hold the content types as well. */
export function openApiOf(name: DocumentName, { routes, version, types }: { readonly routes: readonly Route[]; readonly version: string; readonly types: readonly ContentTypeDefinition[] }): OpenApiDocument {
  const document = openApiDocument(routes.filter(DOCUMENTS[name]), { title: TITLES[name], version });
  return name === 'admin' ? document : withContentTypes(document, types);
}

const TITLES: Readonly<Record<DocumentName, string>> = { public: 'Palimpsest Content API', admin: 'Palimpsest Admin API', all: 'Palimpsest' };

type OnDocument = Pick<RouteRequest<unknown, unknown, unknown>, 'header' | 'principal' | 'tenant'>;

/**
 * OpenAPI documents (spec 1, Features): the Content API with the content types that the caller may read, for admins and on the Content API for every credential;
 * the Admin API and both for super admins.
 */
export function openApiRoutes({ routes, version, queries, accessRules }: OpenApiRoutesDependencies): readonly Route[] {
  const cached = documentCache();

  async function answer(name: DocumentName, { header, principal, tenant }: OnDocument): Promise<Answer> {
    const types = name === 'admin' ? [] : visibleTypes(await queries.list(tenant), { tenant, principal }, accessRules);
    const { json, tag } = cached(`${name}:${JSON.stringify(types)}`, (): SentDocument => sentDocument(JSON.stringify(openApiOf(name, { routes: routes(), version, types }))));
    const headers = { ETag: tag, 'Cache-Control': 'private, no-cache' };
    return isOneOf(header('if-none-match'), tag) ? { status: 304, headers } : { status: 200, json, headers };
  }

  const shared = { api: 'admin', method: 'GET', tag: 'platform', answers: { 200: Type.Object({}, { additionalProperties: true, description: 'An OpenAPI document' }), 304: null } } as const;
  const admins = { kind: 'credential', roles: ['admin', 'super_admin'] } as const;
  return [
    route({
      ...shared,
      path: '/api/admin/openapi/public.json',
      operation: 'openApiPublic',
      summary: 'OpenAPI document of the Content API, with the content types of the tenant',
      access: admins,
      handler: (request) => answer('public', request),
    }),
    route({
      ...shared,
      path: '/api/admin/openapi.json',
      operation: 'openApi',
      summary: 'OpenAPI document: the Content API; for super admins everything',
      access: admins,
      handler: (request) => answer(request.principal && holdsRole(request.principal, ['super_admin']) ? 'all' : 'public', request),
    }),
    route({
      ...shared,
      path: '/api/admin/openapi/admin.json',
      operation: 'openApiAdmin',
      summary: 'OpenAPI document of the Admin API',
      access: { kind: 'credential', roles: ['super_admin'] },
      handler: (request) => answer('admin', request),
    }),
    route({
      ...shared,
      api: 'content',
      path: '/api/v1/openapi.json',
      operation: 'openApiContent',
      summary: 'OpenAPI document of the Content API, with the content types that the caller may read; keys need the scope schemas:read',
      access: { kind: 'credential' },
      handler: (request) => answer('public', request),
    }),
  ];
}
