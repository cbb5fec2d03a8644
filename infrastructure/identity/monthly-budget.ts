import type { Admission } from '../../application/ports/api-key-requests.ts';
import { refusal } from '../../domain/errors.ts';
import { billingPeriod } from '../../domain/identity/billing-period.ts';

type Key = { readonly tenant: string; readonly keyId: string; readonly monthlyLimit: number };

export type MonthlyBudgetOptions = {
  /**
   * Counts one request of the month in the shared count, unless with `others` more it would go over the limit.
   * @returns the count after it, undefined where it was not counted
   */
  readonly countAhead: (key: Key, period: string, others: number) => Promise<number | undefined>;
};

export type MonthlyBudget = {
  /** @throws `monthly_limit_exceeded` */
  admit(key: Key, at: Date): Admission | Promise<Admission>;
  /** Requests that this process let through uncounted, and that now are in the shared count, or never will be. */
  settled(keyId: string, period: string, requests: number): void;
  /** The shared count, as a batch left it. */
  learned(keyId: string, period: string, total: number, at: Date): void;
};

/** What this process knows of the month of a key with a limit. */
type Known = {
  readonly period: string;
  /** Requests that this process let through and that are not in the shared count yet. */
  open: number;
  total: number;
  /** Milliseconds since the epoch; what is older must be asked for. */
  asOf: number;
  atLastBatch: number | undefined;
  /** So close to the limit each request is counted before it is served. */
  margin: number;
};

/** Longer than the time between two batches, so that a key in use never waits for the shared count. */
const FRESH_MS = 1_000;
const LEAST_MARGIN = 1_000;
/** A margin holds what all processes let through between two batches, this many times. */
const CAUTION = 4;

/**
 * Monthly limits over all processes (spec 1, API key checks). Each lets requests through by the shared count of at most a second ago and its own since
 * then; on the last stretch, at least 1,000 requests long and four times what is used between two batches, each request is counted in the database
 * first. The limit is passed only where use grows from nothing to more than the stretch within one second, by what the other processes let through in it.
 */
export function createMonthlyBudget({ countAhead }: MonthlyBudgetOptions): MonthlyBudget {
  const months = new Map<string, Known>();
  /** Of the present month; requests share them. */
  let uncounted: Admission = { period: '', counted: false };
  let counted: Admission = { period: '', counted: true };

  function knownOf(keyId: string, period: string): Known {
    const known = months.get(keyId);
    if (known?.period === period) return known;
    const fresh: Known = { period, open: 0, total: 0, asOf: -Infinity, atLastBatch: undefined, margin: LEAST_MARGIN };
    months.set(keyId, fresh);
    return fresh;
  }

  async function countFirst(key: Key, known: Known, atMs: number): Promise<Admission> {
    const admission = counted;
    const total = await countAhead(key, known.period, known.open);
    known.total = total ?? key.monthlyLimit;
    known.asOf = atMs;
    if (total === undefined) throw exceeded(key);
    return admission;
  }

  return {
    admit(key, at) {
      const period = billingPeriod(at);
      if (period !== uncounted.period) {
        uncounted = { period, counted: false };
        counted = { period, counted: true };
        for (const [keyId, known] of months) if (known.period !== period) months.delete(keyId);
      }
      if (key.monthlyLimit === 0) return uncounted;
      const known = knownOf(key.keyId, period);
      if (at.getTime() - known.asOf > FRESH_MS) return countFirst(key, known, at.getTime());
      if (known.total >= key.monthlyLimit) throw exceeded(key);
      if (known.total + known.open + known.margin >= key.monthlyLimit) return countFirst(key, known, at.getTime());
      known.open += 1;
      return uncounted;
    },
    settled(keyId, period, requests) {
      const known = months.get(keyId);
      if (known?.period === period) known.open = Math.max(0, known.open - requests);
    },
    learned(keyId, period, total, at) {
      const known = months.get(keyId);
      if (known?.period !== period) return;
      if (known.atLastBatch !== undefined) known.margin = Math.max(LEAST_MARGIN, CAUTION * (total - known.atLastBatch));
      known.atLastBatch = total;
      known.total = total;
      known.asOf = at.getTime();
    },
  };
}

function exceeded({ monthlyLimit }: Key): Error {
  return refusal('monthly_limit_exceeded', { message: `monthly request limit (${monthlyLimit}) exceeded`, headers: { 'X-RateLimit-Exceeded': 'true' } });
}
