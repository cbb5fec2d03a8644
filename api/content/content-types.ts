import { Type } from '@sinclair/typebox';
import type { AccessRules } from '../../application/ports/access-rules.ts';
import { presentContentType } from '../../domain/content/present-content-type.ts';
import { refusal } from '../../domain/errors.ts';
import type { ContentTypeQueries } from '../../projections/content/content-types/queries.ts';
import { ContentTypeAnswer } from '../admin/content-types/schemas.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { mayName, visibleTypes } from './visible-types.ts';

const SHARED = { api: 'content', method: 'GET', tag: 'content', access: { kind: 'credential' }, reads: ['content'], feature: 'content' } as const;

export type ContentTypeReadDependencies = { readonly queries: Pick<ContentTypeQueries, 'list' | 'one'>; readonly accessRules: AccessRules };

/**
 * Content types on the Content API (spec 1, content API). A key's `schemas` list and the access rules narrow them, masked fields are left out; a type
 * closed to REST is not there.
 */
export function contentTypeReadRoutes({ queries, accessRules }: ContentTypeReadDependencies): readonly Route[] {
  return [
    route({
      ...SHARED,
      path: '/api/v1/schemas',
      operation: 'listSchemas',
      summary: 'Content types with their fields',
      answers: { 200: Type.Array(ContentTypeAnswer) },
      handler: async ({ tenant, principal }) => {
        const types = visibleTypes(await queries.list(tenant), { tenant, principal }, accessRules);
        return { status: 200, body: types.map(presentContentType) };
      },
    }),
    route({
      ...SHARED,
      path: '/api/v1/schemas/{name}',
      operation: 'getSchema',
      summary: 'One content type',
      params: Type.Object({ name: Type.String() }),
      answers: { 200: ContentTypeAnswer },
      refusals: ['schema_not_found', 'schema_not_allowed', 'permission_denied'],
      handler: async ({ tenant, principal, params }) => {
        if (!mayName(principal, params.name)) throw refusal('schema_not_allowed');
        const type = await queries.one(tenant, params.name);
        if (!type || type.definition.transports?.rest === 'off') throw refusal('schema_not_found');
        const [definition] = visibleTypes([type], { tenant, principal }, accessRules);
        if (!definition) throw refusal('permission_denied');
        return { status: 200, body: presentContentType(definition) };
      },
    }),
  ];
}
