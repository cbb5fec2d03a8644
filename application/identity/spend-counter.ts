import { refusal } from '../../domain/errors.ts';
import type { RateCounters, RateTake } from '../ports/rate-counters.ts';

/** Takes one call of a limit that is no named protection. @throws `rate_limited` with `remaining`, `limit`, `reset_at` and `Retry-After` in seconds */
export async function spendCounter(rateCounters: Pick<RateCounters, 'take'>, wish: RateTake): Promise<void> {
  const { allowed, remaining, resetAt, retryAfter } = await rateCounters.take(wish);
  if (allowed) return;
  throw refusal('rate_limited', { body: { remaining, limit: wish.limit, reset_at: resetAt.toISOString() }, headers: { 'Retry-After': String(retryAfter) } });
}
