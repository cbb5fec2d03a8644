import { Type } from '@sinclair/typebox';
import type { AccessRules } from '../../application/ports/access-rules.ts';
import { presentContentType } from '../../domain/content/present-content-type.ts';
import { refusal } from '../../domain/errors.ts';
import type { ContentTypeQueries } from '../../projections/content/content-types/queries.ts';
import { ContentType } from '../admin/content-types/schemas.ts';
import { type Route, route } from '../http/route.ts';
import { isListedType, visibleTypes } from './visible-types.ts';

const SHARED = {
  api: 'content',
  method: 'GET',
  tag: 'content',
  access: { kind: 'credential' },
  reads: ['content'],
  feature: 'content',
} as const;

export type ContentTypeReadRouteDependencies = {
  readonly queries: Pick<ContentTypeQueries, 'list' | 'one'>;
  readonly accessRules: AccessRules;
};

/**
 * Routes of the Content API that read content types: those that the key's `schemas` list and the access rules allow,
 * without masked fields. A type with the transport `rest: off` is not found.
 */
export function contentTypeReadRoutes(dependencies: ContentTypeReadRouteDependencies): readonly Route[] {
  const { queries, accessRules } = dependencies;
  return [
    route({
      ...SHARED,
      path: '/api/v1/schemas',
      operation: 'listSchemas',
      summary: 'List the content types with their fields',
      responses: { 200: Type.Array(ContentType) },
      handler: async ({ tenant, principal }) => {
        const types = visibleTypes(await queries.list(tenant), { tenant, principal }, { accessRules });
        return { status: 200, body: types.map(presentContentType) };
      },
    }),
    route({
      ...SHARED,
      path: '/api/v1/schemas/{name}',
      operation: 'getSchema',
      summary: 'Get one content type',
      params: Type.Object({ name: Type.String() }),
      responses: { 200: ContentType },
      refusals: ['schema_not_found', 'schema_not_allowed', 'permission_denied'],
      handler: async ({ tenant, principal, params }) => {
        if (!isListedType(principal, params.name)) throw refusal('schema_not_allowed');
        const type = await queries.one(tenant, params.name);
        if (!type || type.definition.transports?.rest === 'off') throw refusal('schema_not_found');
        const [definition] = visibleTypes([type], { tenant, principal }, { accessRules });
        if (!definition) throw refusal('permission_denied');
        return { status: 200, body: presentContentType(definition) };
      },
    }),
  ];
}
