import type { Admission } from '../../application/ports/api-key-requests.ts';
import { refusal } from '../../domain/errors.ts';
import { billingPeriod } from '../../domain/identity/billing-period.ts';

type Key = { readonly tenant: string; readonly keyId: string; readonly monthlyLimit: number };

export type MonthlyBudgetOptions = {
  /**
   * Adds one request to the shared count of the month, unless the count plus `others` has reached the limit.
   * @returns the new count; undefined when the request was not counted
   */
  readonly countAhead: (key: Key, period: string, others: number) => Promise<number | undefined>;
};

export type MonthlyBudget = {
  /** @throws `monthly_limit_exceeded` */
  admit(key: Key, at: Date): Admission | Promise<Admission>;
  /** Removes requests that this process admitted uncounted: they are in the shared count now, or will never be. */
  settle(keyId: string, period: string, requests: number): void;
  /** Sets the shared count after a batch was written. */
  setTotal(keyId: string, period: string, total: number, at: Date): void;
};

/** The month of one key with a limit, as this process knows it. */
type MonthCount = {
  readonly period: string;
  /** Requests that this process admitted and that are not in the shared count yet. */
  open: number;
  total: number;
  /** Time of `total` in ms since the epoch. */
  asOf: number;
  atLastBatch: number | undefined;
  /** With fewer requests left than this, each request is counted before it is served. */
  margin: number;
};

/**
 * Maximum age of a total, in milliseconds. It exceeds the time between two batches, so that a key in use never waits
 * for the shared count.
 */
const FRESH_MS = 1_000;
const MIN_MARGIN = 1_000;
/** The margin is this multiple of the requests that all processes admitted between two batches. */
const MARGIN_FACTOR = 4;

/**
 * Enforces monthly limits of API keys over all processes. Far from the limit, a process admits requests by the shared
 * count, at most one second old, plus its own requests since. Near the limit (the margin: at least 1,000 requests, and
 * four times the requests between two batches) each request is counted in the database first. The limit can be exceeded
 * only when the usage of a key grows by more than the margin within one second.
 */
export function createMonthlyBudget({ countAhead }: MonthlyBudgetOptions): MonthlyBudget {
  const months = new Map<string, MonthCount>();
  /** Admissions of the current month; requests share them. */
  let uncounted: Admission = { period: '', counted: false };
  let counted: Admission = { period: '', counted: true };

  function knownOf(keyId: string, period: string): MonthCount {
    const month = months.get(keyId);
    if (month?.period === period) return month;
    const fresh: MonthCount = {
      period,
      open: 0,
      total: 0,
      asOf: -Infinity,
      atLastBatch: undefined,
      margin: MIN_MARGIN,
    };
    months.set(keyId, fresh);
    return fresh;
  }

  async function countFirst(key: Key, month: MonthCount, atMs: number): Promise<Admission> {
    const admission = counted;
    const total = await countAhead(key, month.period, month.open);
    month.total = total ?? key.monthlyLimit;
    month.asOf = atMs;
    if (total === undefined) throw monthlyLimitRefusal(key);
    return admission;
  }

  return {
    admit(key, at) {
      const period = billingPeriod(at);
      if (period !== uncounted.period) {
        uncounted = { period, counted: false };
        counted = { period, counted: true };
        for (const [keyId, month] of months) if (month.period !== period) months.delete(keyId);
      }
      if (key.monthlyLimit === 0) return uncounted;
      const month = knownOf(key.keyId, period);
      if (at.getTime() - month.asOf > FRESH_MS) return countFirst(key, month, at.getTime());
      if (month.total >= key.monthlyLimit) throw monthlyLimitRefusal(key);
      if (month.total + month.open + month.margin >= key.monthlyLimit) return countFirst(key, month, at.getTime());
      month.open += 1;
      return uncounted;
    },
    settle(keyId, period, requests) {
      const month = months.get(keyId);
      if (month?.period === period) month.open = Math.max(0, month.open - requests);
    },
    setTotal(keyId, period, total, at) {
      const month = months.get(keyId);
      if (month?.period !== period) return;
      if (month.atLastBatch !== undefined)
        month.margin = Math.max(MIN_MARGIN, MARGIN_FACTOR * (total - month.atLastBatch));
      month.atLastBatch = total;
      month.total = total;
      month.asOf = at.getTime();
    },
  };
}

function monthlyLimitRefusal({ monthlyLimit }: Key): Error {
  return refusal('monthly_limit_exceeded', {
    message: `monthly request limit (${monthlyLimit}) exceeded`,
    headers: { 'X-RateLimit-Exceeded': 'true' },
  });
}
