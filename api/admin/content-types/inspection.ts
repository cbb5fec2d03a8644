import { Type } from '@sinclair/typebox';
import { previewContentType } from '../../../application/content/preview-content-type.ts';
import type { SchemaWorkbench } from '../../../application/ports/schema-workbench.ts';
import type { SchemaStatement } from '../../../domain/content/definition.ts';
import { refusal } from '../../../domain/errors.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { ContentTypeQueries } from '../../../projections/content/content-types/queries.ts';
import { presentStatement } from '../../../projections/content/content-types/queries.ts';
import type { Route } from '../../http/route.ts';
import { route } from '../../http/route.ts';
import { DefinitionBody, HistoryAnswer, NameParams, StatementAnswer, StatsAnswer } from './schemas.ts';

const SHARED = { api: 'admin', tag: 'content', feature: 'schema', params: NameParams, reads: ['content'] } as const;
const PREVIEW = {
  ...SHARED,
  method: 'POST',
  access: { kind: 'session', roles: ['admin', 'super_admin'] },
  body: DefinitionBody,
  malformedJson: 'invalid_json',
  answers: { 200: Type.Object({ statements: Type.Array(StatementAnswer) }) },
  refusals: ['invalid_schema', 'schema_table_shared'],
} as const;

/** What a change would do, what changes did, and how much there is (spec 2, preview, history, stats). */
export function inspectionRoutes({ queries, workbench }: { readonly queries: ContentTypeQueries; readonly workbench: SchemaWorkbench }): readonly Route[] {
  async function typeOf(tenant: string, name: string) {
    const type = await queries.one(tenant, name);
    if (!type) throw refusal('schema_not_found');
    return type;
  }
  return [
    route({
      ...PREVIEW,
      path: '/api/admin/schemas/{name}/preview-ddl',
      operation: 'previewContentTypeDdl',
      grants: ['schemas:write'],
      summary: 'Statements of a save, with the marks of those that would be queued',
      handler: async ({ params, body, context }) => {
        const statements = await previewContentType({ name: params.name, input: body }, context, workbench);
        return { status: 200, body: { statements: statements.map((statement) => presentPlanned(statement, true)) } };
      },
    }),
    route({
      ...PREVIEW,
      path: '/api/admin/schemas/{name}/preview',
      operation: 'previewContentType',
      grants: ['schemas:write'],
      summary: 'Statements of a save',
      handler: async ({ params, body, context }) => {
        const statements = await previewContentType({ name: params.name, input: body }, context, workbench);
        return { status: 200, body: { statements: statements.map((statement) => presentPlanned(statement, false)) } };
      },
    }),
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/schemas/{name}/history',
      operation: 'listContentTypeStatements',
      summary: 'Statements of a content type, newest first, with their states',
      access: { kind: 'session', roles: ['super_admin'] },
      answers: { 200: HistoryAnswer },
      refusals: ['schema_not_found'],
      handler: async ({ tenant, params }) => {
        const statements = await queries.history(tenant, (await typeOf(tenant, params.name)).id);
        return { status: 200, body: { statements: statements.map(presentStatement), pending: statements.filter(({ state }) => state === 'pending').length } };
      },
    }),
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/schemas/{name}/stats',
      operation: 'getContentTypeStats',
      grants: ['schemas:read'],
      summary: 'How many entries there are, and when one was last written',
      access: { kind: 'session' },
      answers: { 200: StatsAnswer },
      refusals: ['schema_not_found'],
      handler: async ({ tenant, params }) => ({ status: 200, body: { ...(await queries.stats(tenant, (await typeOf(tenant, params.name)).name)) } }),
    }),
  ];
}

function presentPlanned({ description, sql, down_sql, destructive }: SchemaStatement, marked: boolean): JsonObject {
  return { description, sql, down_sql, ...(marked && destructive === true ? { destructive } : {}) };
}
