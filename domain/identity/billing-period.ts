/** The UTC calendar month of a moment, `2026-11`: what monthly limits and usage count in (spec 1, API key). */
export function billingPeriod(at: Date): string {
  return at.toISOString().slice(0, 7);
}

const NOT_COUNTED: ReadonlySet<number> = new Set([401, 403, 429]);

/** Whether an answer of this status counts towards limit and usage (spec 4 A, API keys, audit, usage). */
export function countsAsUse(status: number): boolean {
  return !NOT_COUNTED.has(status);
}
