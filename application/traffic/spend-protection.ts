import { refusal } from '../../domain/errors.ts';
import type { ProtectionName } from '../../domain/traffic/protections.ts';
import type { Protections } from '../ports/protections.ts';

/** Takes one of what a protection allows (spec 1, errors, rate limiting). @throws `rate_limited` with `remaining`, `limit`, `reset_at` and `Retry-After` in seconds */
export async function spendProtection(protections: Protections, name: ProtectionName, subject: string): Promise<void> {
  const { allowed, remaining, limit, resetAt, retryAfter } = await protections.take(name, subject);
  if (allowed) return;
  throw refusal('rate_limited', { body: { remaining, limit, reset_at: resetAt.toISOString() }, headers: { 'Retry-After': String(retryAfter) } });
}
