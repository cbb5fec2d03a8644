import type { License } from './license.ts';
import { phaseOf } from './license.ts';

const RANK = { active: 2, grace: 1, lapsed: 0 } as const;

/** The license to go by: an active one before one in its grace period before a lapsed one; among equals the first. Undefined ones are passed over. */
export function chooseLicense(candidates: readonly (License | undefined)[], now: Date): License | undefined {
  let best: License | undefined;
  for (const candidate of candidates) {
    if (candidate && (!best || RANK[phaseOf(candidate, now)] > RANK[phaseOf(best, now)])) best = candidate;
  }
  return best;
}
