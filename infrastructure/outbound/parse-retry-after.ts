/**
 * Parses a `Retry-After` header (RFC 9110: seconds or a date).
 * @param now current time in Unix milliseconds
 * @returns the delay in milliseconds; undefined without a valid header
 */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const date = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(header)
    ? Date.parse(header)
    : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
