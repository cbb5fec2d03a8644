import { applyAllStatements } from '../../../application/content/apply-all-statements.ts';
import { type AppliedStatements, applyStatements } from '../../../application/content/apply-statements.ts';
import type { ContentTypeDependencies } from '../../../application/content/content-type-dependencies.ts';
import type { RateCounters } from '../../../application/ports/rate-counters.ts';
import type { Json } from '../../../domain/json.ts';
import type { ContentTypeQueries } from '../../../projections/content/content-types/queries.ts';
import { commitAt } from '../../http/commit.ts';
import { type Route, type RouteResponse, route } from '../../http/route.ts';
import { consumeSchemaMutation } from './consume-schema-mutation.ts';
import { presentStatement } from './present-statement.ts';
import { requireContentType } from './require-content-type.ts';
import { AppliedCounts, MigrationCounts, NameParams, PendingStatements } from './schemas.ts';

const READS = ['content'];
const SHARED = {
  api: 'admin',
  tag: 'content',
  feature: 'schema',
  access: { kind: 'session', roles: ['super_admin'] },
} as const;

export type PendingStatementRouteDependencies = ContentTypeDependencies & {
  readonly queries: ContentTypeQueries;
  readonly rateCounters: RateCounters;
};

/** Routes that list and apply the pending statements of schema changes. */
export function pendingStatementRoutes(dependencies: PendingStatementRouteDependencies): readonly Route[] {
  const { queries, rateCounters } = dependencies;
  return [
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/schemas/{name}/apply-pending',
      operation: 'applyPendingStatements',
      summary: 'Apply the pending statements of a content type',
      params: NameParams,
      responses: { 200: AppliedCounts },
      refusals: ['schema_not_found', 'ddl_in_progress'],
      precheck: async ({ tenant, params }) => {
        await requireContentType({ tenant, name: params.name }, dependencies);
      },
      handler: async ({ params, context }) => {
        const done = await applyStatements({ name: params.name }, context, dependencies);
        return appliedResponse(done, countsOf(done));
      },
    }),
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/migrate',
      operation: 'listQueuedStatements',
      summary: 'List every pending statement by content type',
      responses: { 200: PendingStatements },
      reads: READS,
      handler: async ({ tenant }) => {
        const statements = await queries.pending(tenant);
        const pending = new Map<string, readonly Json[]>();
        for (const statement of statements)
          pending.set(statement.name, [...(pending.get(statement.name) ?? []), presentStatement(statement)]);
        return { status: 200, body: { pending: Object.fromEntries(pending), total: statements.length } };
      },
    }),
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/migrate/apply',
      operation: 'applyAllQueues',
      summary: 'Apply the pending statements of every content type',
      responses: { 200: AppliedCounts },
      refusals: ['ddl_in_progress'],
      handler: async ({ context }) => {
        const done = await applyAllStatements(context, dependencies);
        return appliedResponse(done, countsOf(done));
      },
    }),
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/schemas/migrate',
      operation: 'migrateContentTypes',
      summary: 'Apply the pending statements of every content type and count them',
      responses: { 200: MigrationCounts },
      refusals: ['schema_mutation_limited', 'ddl_in_progress'],
      consume: ({ tenant }) => consumeSchemaMutation({ tenant }, { rateCounters }),
      handler: async ({ context }) => {
        const done = await applyAllStatements(context, dependencies);
        return appliedResponse(done, { count: done.applied, ...countsOf(done) });
      },
    }),
  ];
}

type Counts = { readonly applied: number; readonly canceled: number; readonly failed?: number };

function countsOf({ applied, canceled, failed }: AppliedStatements): Counts {
  return { applied, canceled, ...(failed === 0 ? {} : { failed }) };
}

function appliedResponse({ position }: AppliedStatements, body: Counts & { readonly count?: number }): RouteResponse {
  return { status: 200, body, ...commitAt(position, READS) };
}
