import { Type } from '@sinclair/typebox';
import { openApiDocument } from '../http/openapi.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';

export type OpenApiRoutesDependencies = {
  /** The whole table, these routes included; asked on the first request. */
  readonly routes: () => readonly Route[];
  readonly version: string;
};

/** OpenAPI documents: the Content API for admins, everything for super admins (spec 1, Features). */
export function openApiRoutes({ routes, version }: OpenApiRoutesDependencies): readonly Route[] {
  const publicHalf = once(() => documentOf((candidate) => candidate.api === 'content'));
  const adminHalf = once(() => documentOf((candidate) => candidate.path.startsWith('/api/admin/')));
  const whole = once(() => documentOf(() => true));
  const documentOf = (wanted: (candidate: Route) => boolean) => JSON.stringify(openApiDocument(routes().filter(wanted), { title: 'Palimpsest', version }));

  const shared = { api: 'admin', method: 'GET', tag: 'platform', answers: { 200: Type.Unknown() } } as const;
  const admins = { kind: 'credential', roles: ['admin', 'super_admin'] } as const;
  return [
    route({
      ...shared,
      path: '/api/admin/openapi/public.json',
      operation: 'openApiPublic',
      summary: 'OpenAPI document of the Content API',
      access: admins,
      handler: () => Promise.resolve({ status: 200, json: publicHalf() }),
    }),
    route({
      ...shared,
      path: '/api/admin/openapi.json',
      operation: 'openApi',
      summary: 'OpenAPI document: the Content API; for super admins everything',
      access: admins,
      handler: ({ principal }) => Promise.resolve({ status: 200, json: principal?.roles.includes('super_admin') ? whole() : publicHalf() }),
    }),
    route({
      ...shared,
      path: '/api/admin/openapi/admin.json',
      operation: 'openApiAdmin',
      summary: 'OpenAPI document of the Admin API',
      access: { kind: 'credential', roles: ['super_admin'] },
      handler: () => Promise.resolve({ status: 200, json: adminHalf() }),
    }),
  ];
}

function once(make: () => string): () => string {
  let made: string | undefined;
  return () => (made ??= make());
}
