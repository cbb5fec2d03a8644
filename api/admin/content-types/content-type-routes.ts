import { Type } from '@sinclair/typebox';
import type { ContentTypeDependencies } from '../../../application/content/content-type-dependencies.ts';
import { deleteContentType } from '../../../application/content/delete-content-type.ts';
import { saveContentType } from '../../../application/content/save-content-type.ts';
import type { RateCounters } from '../../../application/ports/rate-counters.ts';
import { presentContentType } from '../../../domain/content/present-content-type.ts';
import { refusal } from '../../../domain/errors.ts';
import type { ContentTypeQueries } from '../../../projections/content/content-types/queries.ts';
import { commitAt } from '../../http/commit.ts';
import { type Route, route } from '../../http/route.ts';
import { consumeSchemaMutation } from './consume-schema-mutation.ts';
import { inspectionRoutes } from './inspection-routes.ts';
import { pendingStatementRoutes } from './pending-statement-routes.ts';
import { renameRoutes } from './rename-routes.ts';
import { requireContentType } from './require-content-type.ts';
import { ContentType, DefinitionBody, NameParams } from './schemas.ts';

export type ContentTypeRouteDependencies = ContentTypeDependencies & {
  readonly queries: ContentTypeQueries;
  readonly rateCounters: RateCounters;
};

const ADMINS = ['admin', 'super_admin'];
const SHARED = { api: 'admin', tag: 'content', feature: 'schema' } as const;
const READS = ['content'];

/** Routes of content types on the Admin API. */
export function contentTypeRoutes(dependencies: ContentTypeRouteDependencies): readonly Route[] {
  const { queries, rateCounters } = dependencies;
  return [
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/schemas',
      operation: 'listContentTypes',
      summary: 'List all content types of the tenant',
      access: { kind: 'session' },
      grants: ['schemas:read'],
      responses: { 200: Type.Array(ContentType) },
      reads: READS,
      handler: async ({ tenant }) => ({
        status: 200,
        body: (await queries.list(tenant)).map(({ definition }) => presentContentType(definition)),
      }),
    }),
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/schemas/{name}',
      operation: 'getContentType',
      summary: 'Get one content type',
      access: { kind: 'session' },
      grants: ['schemas:read'],
      params: NameParams,
      responses: { 200: ContentType },
      refusals: ['schema_not_found'],
      reads: READS,
      handler: async ({ tenant, params }) => {
        const { definition } = await requireContentType({ tenant, name: params.name }, dependencies);
        return { status: 200, body: presentContentType(definition) };
      },
    }),
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/schemas',
      operation: 'createContentType',
      summary: 'Create a content type, or replace the one with that name',
      access: { kind: 'session', roles: ADMINS },
      grants: ['schemas:write'],
      query: Type.Object({
        adopt: Type.Optional(
          Type.Boolean({
            description: 'Restores the entries of a type of that name that was deleted with content=soft',
          }),
        ),
      }),
      body: DefinitionBody,
      malformedJson: 'invalid_json',
      responses: { 200: ContentType },
      refusals: ['invalid_schema', 'schema_table_shared', 'schema_migration_failed', 'ddl_in_progress'],
      handler: async ({ body, query, context }) => {
        const { definition, position } = await saveContentType(
          { verb: 'post', input: body, adopt: query.adopt === true },
          context,
          dependencies,
        );
        return { status: 200, body: presentContentType(definition), ...commitAt(position, READS) };
      },
    }),
    route({
      ...SHARED,
      method: 'PUT',
      path: '/api/admin/schemas/{name}',
      operation: 'saveContentType',
      summary: 'Save a content type: apply the differences from the stored one; removals become pending statements',
      access: { kind: 'session', roles: ['super_admin'] },
      params: NameParams,
      body: DefinitionBody,
      malformedJson: 'invalid_json',
      responses: { 200: ContentType },
      refusals: [
        'schema_refused',
        'invalid_schema',
        'schema_not_found',
        'schema_table_shared',
        'schema_migration_failed',
        'schema_mutation_limited',
        'ddl_in_progress',
      ],
      consume: ({ tenant }) => consumeSchemaMutation({ tenant }, { rateCounters }),
      precheck: async ({ tenant, params }) => {
        await requireContentType({ tenant, name: params.name }, dependencies);
      },
      handler: async ({ params, body, context }) => {
        const { definition, position } = await saveContentType(
          { verb: 'put', name: params.name, input: body },
          context,
          dependencies,
        );
        return { status: 200, body: presentContentType(definition), ...commitAt(position, READS) };
      },
    }),
    route({
      ...SHARED,
      method: 'DELETE',
      path: '/api/admin/schemas/{name}',
      operation: 'deleteContentType',
      summary: 'Delete a content type; with content=soft its entries are kept, marked as deleted',
      access: { kind: 'session', roles: ADMINS },
      grants: ['schemas:write'],
      params: NameParams,
      query: Type.Object({ content: Type.Optional(Type.String()) }),
      responses: { 204: null },
      refusals: ['schema_referenced', 'content_mode_refused', 'ddl_in_progress'],
      handler: async ({ params, query, context }) => {
        const content = query.content ?? 'hard';
        if (content !== 'hard' && content !== 'soft') throw refusal('content_mode_refused');
        const position = await deleteContentType({ name: params.name, content }, context, dependencies);
        return { status: 204, ...commitAt(position, READS) };
      },
    }),
    ...renameRoutes(dependencies),
    ...pendingStatementRoutes(dependencies),
    ...inspectionRoutes(dependencies),
  ];
}
