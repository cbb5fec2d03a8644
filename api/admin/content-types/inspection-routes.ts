import { Type } from '@sinclair/typebox';
import type { ContentTypeDependencies } from '../../../application/content/content-type-dependencies.ts';
import { previewContentType } from '../../../application/content/preview-content-type.ts';
import type { ContentTypeQueries } from '../../../projections/content/content-types/queries.ts';
import { type Route, route } from '../../http/route.ts';
import { presentPlanned, presentStatement } from './present-statement.ts';
import { requireContentType } from './require-content-type.ts';
import { ContentTypeStats, DefinitionBody, NameParams, Statement, StatementHistory } from './schemas.ts';

const SHARED = { api: 'admin', tag: 'content', feature: 'schema', params: NameParams, reads: ['content'] } as const;
const PREVIEW = {
  ...SHARED,
  method: 'POST',
  access: { kind: 'session', roles: ['admin', 'super_admin'] },
  body: DefinitionBody,
  malformedJson: 'invalid_json',
  responses: { 200: Type.Object({ statements: Type.Array(Statement) }) },
  refusals: ['invalid_schema', 'schema_table_shared'],
} as const;

export type InspectionRouteDependencies = Pick<ContentTypeDependencies, 'schemaSessions' | 'renderer'> & {
  readonly queries: ContentTypeQueries;
};

/** Routes that preview the statements of a save, list past statements and count entries. */
export function inspectionRoutes(dependencies: InspectionRouteDependencies): readonly Route[] {
  const { queries } = dependencies;
  return [
    route({
      ...PREVIEW,
      path: '/api/admin/schemas/{name}/preview-ddl',
      operation: 'previewContentTypeDdl',
      summary: 'Preview the statements of a save, marking those that would become pending',
      grants: ['schemas:write'],
      handler: async ({ params, body, context }) => {
        const statements = await previewContentType({ name: params.name, input: body }, context, dependencies);
        return { status: 200, body: { statements: statements.map((statement) => presentPlanned(statement, true)) } };
      },
    }),
    route({
      ...PREVIEW,
      path: '/api/admin/schemas/{name}/preview',
      operation: 'previewContentType',
      summary: 'Preview the statements of a save',
      grants: ['schemas:write'],
      handler: async ({ params, body, context }) => {
        const statements = await previewContentType({ name: params.name, input: body }, context, dependencies);
        return { status: 200, body: { statements: statements.map((statement) => presentPlanned(statement, false)) } };
      },
    }),
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/schemas/{name}/history',
      operation: 'listContentTypeStatements',
      summary: 'List the statements of a content type, newest first, with their states',
      access: { kind: 'session', roles: ['super_admin'] },
      responses: { 200: StatementHistory },
      refusals: ['schema_not_found'],
      handler: async ({ tenant, params }) => {
        const type = await requireContentType({ tenant, name: params.name }, { queries });
        const statements = await queries.history(tenant, type.id);
        return {
          status: 200,
          body: {
            statements: statements.map(presentStatement),
            pending: statements.filter(({ state }) => state === 'pending').length,
          },
        };
      },
    }),
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/schemas/{name}/stats',
      operation: 'getContentTypeStats',
      summary: 'Get the number of entries and the time of the last write',
      access: { kind: 'session' },
      grants: ['schemas:read'],
      responses: { 200: ContentTypeStats },
      refusals: ['schema_not_found'],
      handler: async ({ tenant, params }) => {
        const type = await requireContentType({ tenant, name: params.name }, { queries });
        return { status: 200, body: { ...(await queries.stats(tenant, type.name)) } };
      },
    }),
  ];
}
