import { type License, phaseOf } from './license.ts';

const RANK = { active: 2, grace: 1, lapsed: 0 } as const;

/**
 * Chooses the license in force: an active one before one in its grace period before a lapsed one; the first of several
 * in the same phase. Skips undefined candidates.
 */
export function chooseLicense(candidates: readonly (License | undefined)[], now: Date): License | undefined {
  let best: License | undefined;
  for (const candidate of candidates) {
    if (candidate && (!best || RANK[phaseOf(candidate, now)] > RANK[phaseOf(best, now)])) best = candidate;
  }
  return best;
}
