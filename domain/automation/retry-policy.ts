/** When a failed delivery is tried again (spec 3, retry policy). */
export type RetryPolicy = {
  /** 1 to 100, the first one included. */
  readonly max_attempts: number;
  readonly base_delay_ms: number;
  readonly max_delay_ms: number;
  readonly strategy: 'exponential' | 'linear' | 'fixed';
  /** False: the first failure is the last. */
  readonly enabled: boolean;
};

export const DEFAULT_RETRY_POLICY: RetryPolicy = { max_attempts: 5, base_delay_ms: 30_000, max_delay_ms: 600_000, strategy: 'exponential', enabled: true };

/** The share of a wait by which it may grow, so that what failed together does not come back together. */
const SPREAD = 0.1;

export type RetryCircumstances = {
  /** From 0 up to 1: where within the spread this wait lies. */
  readonly chance: number;
  /** What the endpoint asked to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
};

/**
 * Milliseconds to wait after attempt number `attempt` (from 1) failed: what the policy says, or what the endpoint asked for where that is longer,
 * and up to a tenth more; never more than the policy's longest wait. @returns undefined when it was the last attempt
 */
export function retryDelay(policy: RetryPolicy, attempt: number, { chance, retryAfterMs = 0 }: RetryCircumstances): number | undefined {
  if (!policy.enabled || attempt >= policy.max_attempts) return undefined;
  const factor = policy.strategy === 'fixed' ? 1 : policy.strategy === 'linear' ? attempt : 2 ** (attempt - 1);
  return Math.min(Math.max(policy.base_delay_ms * factor, retryAfterMs) * (1 + SPREAD * chance), policy.max_delay_ms);
}
