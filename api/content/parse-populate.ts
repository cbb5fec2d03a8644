import { planPopulate } from '../../application/content/plan-populate.ts';
import type { ContentAccess, ContentAccessDependencies } from '../../application/content/content-access.ts';
import { MAX_DEPTH } from '../../domain/content/populate-plan.ts';
import type { PopulatePlan } from '../../domain/content/populate-plan.ts';
import { refusal } from '../../domain/errors.ts';
import type { RouteRequest } from '../http/route.ts';
import { invalid } from './parse-list-query.ts';

type Parameters = { readonly populate?: string; readonly depth?: string };

/**
 * Reads `populate=author,tags` or `*` and `depth` 1 to 3, default 1 (spec 4 A); undefined where nothing is to be populated.
 * @throws `invalid_query_parameter` with the name
 */
export async function parsePopulate(
  { type, hidden }: Pick<ContentAccess, 'type' | 'hidden'>,
  { query, principal }: Pick<RouteRequest<unknown, Parameters, unknown>, 'query' | 'principal'>,
  dependencies: ContentAccessDependencies,
): Promise<PopulatePlan | undefined> {
  const depth = query.depth === undefined ? 1 : /^\d$/.test(query.depth) ? Number(query.depth) : 0;
  if (depth < 1 || depth > MAX_DEPTH) throw invalid('depth');
  if (query.populate === undefined || query.populate.trim() === '') return undefined;
  if (!principal) throw refusal('authentication_required');
  const names = query.populate.split(',').map((name) => name.trim());
  return planPopulate({ type, hidden, names, depth, principal, transport: 'rest' }, dependencies);
}
