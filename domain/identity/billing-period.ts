/** The UTC calendar month of a time, such as `2026-11`. Monthly limits and usage are counted per month. */
export function billingPeriod(at: Date): string {
  return at.toISOString().slice(0, 7);
}

const NOT_COUNTED: ReadonlySet<number> = new Set([401, 403, 429]);

/** Whether a request with this response status counts towards the monthly limit and the usage. */
export function countsTowardsUsage(status: number): boolean {
  return !NOT_COUNTED.has(status);
}
