import { Type } from '@sinclair/typebox';
import type { ContentTypeDefinition } from '../../domain/content/definition.ts';
import { presentContentType } from '../../domain/content/present-content-type.ts';
import { refusal } from '../../domain/errors.ts';
import type { Principal } from '../../domain/identity/principal.ts';
import type { ContentTypeQueries } from '../../projections/content/content-types/queries.ts';
import { ContentTypeAnswer } from '../admin/content-types/schemas.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';

const SHARED = { api: 'content', method: 'GET', tag: 'content', access: { kind: 'credential' }, reads: ['content'], feature: 'content' } as const;

/** Content types on the Content API (spec 1, content API). A key's `schemas` list narrows them; a type closed to REST is not there. */
export function contentTypeReadRoutes({ queries }: { readonly queries: Pick<ContentTypeQueries, 'list' | 'one'> }): readonly Route[] {
  return [
    route({
      ...SHARED,
      path: '/api/v1/schemas',
      operation: 'listSchemas',
      summary: 'Content types with their fields',
      answers: { 200: Type.Array(ContentTypeAnswer) },
      handler: async ({ tenant, principal }) => {
        const types = (await queries.list(tenant)).map(({ definition }) => definition);
        return { status: 200, body: types.filter((type) => isServed(type) && isAllowed(principal, type.name)).map(presentContentType) };
      },
    }),
    route({
      ...SHARED,
      path: '/api/v1/schemas/{name}',
      operation: 'getSchema',
      summary: 'One content type',
      params: Type.Object({ name: Type.String() }),
      answers: { 200: ContentTypeAnswer },
      refusals: ['schema_not_found', 'schema_not_allowed'],
      handler: async ({ tenant, principal, params }) => {
        if (!isAllowed(principal, params.name)) throw refusal('schema_not_allowed');
        const type = await queries.one(tenant, params.name);
        if (!type || !isServed(type.definition)) throw refusal('schema_not_found');
        return { status: 200, body: presentContentType(type.definition) };
      },
    }),
  ];
}

function isServed({ transports }: ContentTypeDefinition): boolean {
  return transports?.rest !== 'off';
}

function isAllowed(principal: Principal | undefined, name: string): boolean {
  return principal?.kind !== 'api_key' || principal.schemas.length === 0 || principal.schemas.includes(name);
}
