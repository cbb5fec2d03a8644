import type { RateCounters } from '../../../application/ports/rate-counters.ts';
import { refusal } from '../../../domain/errors.ts';

/** Limit of the changes of content types that a tenant may request in one window. */
const LIMIT = 10;
const WINDOW_SECONDS = 300;

/**
 * Counts one call towards the tenant's limit of schema changes: 10 calls in 5 minutes, shared by `PUT
 * /api/admin/schemas/{name}` and `POST /api/admin/schemas/migrate`. Routes declare it as `consume`, so it counts every
 * call except those that are refused because of the caller's role.
 * @throws `schema_mutation_limited` with `retry_after` in seconds
 */
export async function consumeSchemaMutation(
  { tenant }: { readonly tenant: string },
  { rateCounters }: { readonly rateCounters: Pick<RateCounters, 'take'> },
): Promise<void> {
  const { allowed, retryAfter } = await rateCounters.take({
    scope: `schema-mutations/${tenant}`,
    limit: LIMIT,
    windowSeconds: WINDOW_SECONDS,
  });
  if (!allowed)
    throw refusal('schema_mutation_limited', {
      body: { retry_after: retryAfter },
      headers: { 'Retry-After': String(retryAfter) },
    });
}
