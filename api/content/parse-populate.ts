import type { ContentAccessDependencies } from '../../application/content/content-access.ts';
import { planPopulate } from '../../application/content/plan-populate.ts';
import { MAX_DEPTH, type PopulatePlan } from '../../domain/content/populate-plan.ts';
import { invalidParameter } from '../http/query-parameters.ts';
import type { RouteRequest } from '../http/route.ts';
import type { CallerAccess } from './entry-access.ts';
import type { ListParameters } from './parse-list-query.ts';

/**
 * Parses `populate` (`author,tags` or `*`) and `depth` (1 to 3, default 1). @returns undefined without `populate`
 * @throws `invalid_query_parameter` with the name of the parameter
 */
export async function parsePopulate(
  { type, hidden, principal }: Pick<CallerAccess, 'type' | 'hidden' | 'principal'>,
  { query }: Pick<RouteRequest<unknown, Pick<ListParameters, 'populate' | 'depth'>, unknown>, 'query'>,
  dependencies: ContentAccessDependencies,
): Promise<PopulatePlan | undefined> {
  const depth = query.depth === undefined ? 1 : /^\d$/.test(query.depth) ? Number(query.depth) : 0;
  if (depth < 1 || depth > MAX_DEPTH) throw invalidParameter('depth');
  if (query.populate === undefined || query.populate.trim() === '') return undefined;
  const names = query.populate.split(',').map((name) => name.trim());
  return planPopulate({ type, hidden, names, depth, principal, transport: 'rest' }, dependencies);
}
