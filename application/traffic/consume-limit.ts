import { refusal } from '../../domain/errors.ts';
import type { ProtectionName } from '../../domain/traffic/protections.ts';
import type { ProtectionTaken, Protections } from '../ports/protections.ts';
import type { RateCounters, RateTake } from '../ports/rate-counters.ts';

/**
 * Counts one call towards a built-in protection.
 * @param input `subject` is the client address, e-mail address or user id that the protection counts.
 * @throws `rate_limited` with `remaining`, `limit`, `reset_at` (RFC 3339) and `Retry-After` (seconds) when the window
 * is used up
 */
export async function consumeProtection(
  { name, subject }: { readonly name: ProtectionName; readonly subject: string },
  { protections }: { readonly protections: Protections },
): Promise<void> {
  refuseOverLimit(await protections.take(name, subject));
}

/**
 * Counts one call towards a limit that no built-in protection covers.
 * @throws `rate_limited` as `consumeProtection`
 */
export async function consumeRateLimit(
  limit: RateTake,
  { rateCounters }: { readonly rateCounters: Pick<RateCounters, 'take'> },
): Promise<void> {
  refuseOverLimit({ ...(await rateCounters.take(limit)), limit: limit.limit });
}

function refuseOverLimit({ allowed, remaining, limit, resetAt, retryAfter }: ProtectionTaken): void {
  if (allowed) return;
  throw refusal('rate_limited', {
    body: { remaining, limit, reset_at: resetAt.toISOString() },
    headers: { 'Retry-After': String(retryAfter) },
  });
}
