const DAY_MS = 86_400_000;
const LONGEST_MS = 90 * DAY_MS;
/** Grace for clocks that differ: a caller computes "in 90 days" on its own clock. */
const CLOCK_GRACE_MS = 60_000;

/** Whether a credential with an admin's rights would live longer than the 90 days that it may (spec 1, API key checks; spec 4 A, admin tokens). */
export function isTooLate(expiresAt: Date, now: Date): boolean {
  return expiresAt.getTime() > now.getTime() + LONGEST_MS + CLOCK_GRACE_MS;
}

/** A moment some days after another. */
export function daysAfter(days: number, moment: Date): Date {
  return new Date(moment.getTime() + days * DAY_MS);
}
