/** When a failed delivery is retried. Delays are in milliseconds. */
export type RetryPolicy = {
  /** 1 to 100, including the first attempt. */
  readonly max_attempts: number;
  readonly base_delay_ms: number;
  readonly max_delay_ms: number;
  readonly strategy: 'exponential' | 'linear' | 'fixed';
  /** False: a failed delivery is not retried. */
  readonly enabled: boolean;
};

export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  max_attempts: 5,
  base_delay_ms: 30_000,
  max_delay_ms: 600_000,
  strategy: 'exponential',
  enabled: true,
};

/**
 * Maximum random extension of a delay, as a share of it. Deliveries that failed together are then retried at different
 * times.
 */
const JITTER = 0.1;

export type RetryCircumstances = {
  /** Random number from 0 (included) to 1 (excluded); scales the jitter. */
  readonly random: number;
  /** `Retry-After` of the endpoint, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
};

/**
 * Delay after the failed attempt number `attempt` (from 1): the delay of the policy or the endpoint's `Retry-After`,
 * whichever is longer, plus up to 10 % jitter, and at most `max_delay_ms`.
 * @returns milliseconds; undefined when it was the last attempt
 */
export function retryDelay(
  policy: RetryPolicy,
  attempt: number,
  { random, retryAfterMs = 0 }: RetryCircumstances,
): number | undefined {
  if (!policy.enabled || attempt >= policy.max_attempts) return undefined;
  const factor = policy.strategy === 'fixed' ? 1 : policy.strategy === 'linear' ? attempt : 2 ** (attempt - 1);
  return Math.min(Math.max(policy.base_delay_ms * factor, retryAfterMs) * (1 + JITTER * random), policy.max_delay_ms);
}
