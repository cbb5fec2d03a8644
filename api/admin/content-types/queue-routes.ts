import { applyAllStatements, applyStatements } from '../../../application/content/apply-statements.ts';
import type { AppliedStatements } from '../../../application/content/apply-statements.ts';
import type { ContentTypeDependencies } from '../../../application/content/change-content-type.ts';
import type { RateCounters } from '../../../application/ports/rate-counters.ts';
import { refusal } from '../../../domain/errors.ts';
import type { Json } from '../../../domain/json.ts';
import type { ContentTypeQueries } from '../../../projections/content/content-types/queries.ts';
import { presentStatement } from '../../../projections/content/content-types/queries.ts';
import type { Answer, Route } from '../../http/route.ts';
import { route } from '../../http/route.ts';
import { spendMutation } from './mutation-budget.ts';
import { AppliedAnswer, AppliedCountAnswer, NameParams, QueuesAnswer } from './schemas.ts';

const READS = ['content'];
const SHARED = { api: 'admin', tag: 'content', feature: 'schema', access: { kind: 'session', roles: ['super_admin'] } } as const;

/** Queued statements of schema changes, and their application (spec 2, schema statements). */
export function queueRoutes(dependencies: ContentTypeDependencies & { readonly queries: ContentTypeQueries; readonly rateCounters: RateCounters }): readonly Route[] {
  const { queries, rateCounters } = dependencies;
  return [
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/schemas/{name}/apply-pending',
      operation: 'applyPendingStatements',
      summary: 'Apply the queued statements of a content type',
      params: NameParams,
      answers: { 200: AppliedAnswer },
      refusals: ['schema_not_found', 'ddl_in_progress'],
      precheck: async ({ tenant, params }) => {
        if (!(await queries.one(tenant, params.name))) throw refusal('schema_not_found');
      },
      handler: async ({ params, context }) => {
        const done = await applyStatements({ name: params.name }, context, dependencies);
        return answer(done, countsOf(done));
      },
    }),
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/migrate',
      operation: 'listQueuedStatements',
      summary: 'Every queued statement by content type',
      answers: { 200: QueuesAnswer },
      reads: READS,
      handler: async ({ tenant }) => {
        const queued = await queries.queued(tenant);
        const pending = new Map<string, readonly Json[]>();
        for (const statement of queued) pending.set(statement.name, [...(pending.get(statement.name) ?? []), presentStatement(statement)]);
        return { status: 200, body: { pending: Object.fromEntries(pending), total: queued.length } };
      },
    }),
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/migrate/apply',
      operation: 'applyAllQueues',
      summary: 'Apply the queued statements of every content type',
      answers: { 200: AppliedAnswer },
      refusals: ['ddl_in_progress'],
      handler: async ({ context }) => {
        const done = await applyAllStatements(context, dependencies);
        return answer(done, countsOf(done));
      },
    }),
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/schemas/migrate',
      operation: 'migrateContentTypes',
      summary: 'Apply the queued statements of every content type and count them',
      answers: { 200: AppliedCountAnswer },
      refusals: ['schema_mutation_limited', 'ddl_in_progress'],
      precheck: ({ tenant }) => spendMutation(tenant, rateCounters),
      handler: async ({ context }) => {
        const done = await applyAllStatements(context, dependencies);
        return answer(done, { count: done.applied, ...countsOf(done) });
      },
    }),
  ];
}

type Counts = { readonly applied: number; readonly canceled: number; readonly failed?: number };

function countsOf({ applied, canceled, failed }: AppliedStatements): Counts {
  return { applied, canceled, ...(failed === 0 ? {} : { failed }) };
}

function answer({ position }: AppliedStatements, body: Counts & { readonly count?: number }): Answer {
  return position === undefined ? { status: 200, body } : { status: 200, body, commit: { position, readModels: READS } };
}
