import { DAY_MS } from '../durations.ts';

const MAX_LIFETIME_MS = 90 * DAY_MS;
/** Tolerance for clock skew: a client computes "in 90 days" on its own clock. */
const CLOCK_GRACE_MS = 60_000;

/** Whether the expiry exceeds the 90 days that a credential with admin rights may live. */
export function exceedsMaximumLifetime(expiresAt: Date, now: Date): boolean {
  return expiresAt.getTime() > now.getTime() + MAX_LIFETIME_MS + CLOCK_GRACE_MS;
}

/** The time some days after another. */
export function daysAfter(days: number, moment: Date): Date {
  return new Date(moment.getTime() + days * DAY_MS);
}
