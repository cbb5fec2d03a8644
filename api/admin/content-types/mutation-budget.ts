import type { RateCounters } from '../../../application/ports/rate-counters.ts';
import { refusal } from '../../../domain/errors.ts';

/** Changes of content types that a tenant may ask for in a window (spec 2, limits). */
const LIMIT = 10;
const WINDOW_SECONDS = 300;

/**
 * Takes one call of the tenant's budget for changes of content types, shared by `PUT /api/admin/schemas/{name}` and
 * `POST /api/admin/schemas/migrate`. As the first precheck of a route it counts every call but those refused for their role (spec 4 B).
 * @throws `schema_mutation_limited`
 */
export async function spendMutation(tenant: string, rateCounters: RateCounters): Promise<void> {
  const { allowed, retryAfter } = await rateCounters.take({ scope: `schema-mutations/${tenant}`, limit: LIMIT, windowSeconds: WINDOW_SECONDS });
  if (!allowed) throw refusal('schema_mutation_limited', { body: { retry_after: retryAfter }, headers: { 'Retry-After': String(retryAfter) } });
}
