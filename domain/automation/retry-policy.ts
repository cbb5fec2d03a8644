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

/** Milliseconds to wait after attempt number `attempt` (from 1) failed. @returns undefined when it was the last one */
export function retryDelay(policy: RetryPolicy, attempt: number): number | undefined {
  if (!policy.enabled || attempt >= policy.max_attempts) return undefined;
  const factor = policy.strategy === 'fixed' ? 1 : policy.strategy === 'linear' ? attempt : 2 ** (attempt - 1);
  return Math.min(policy.base_delay_ms * factor, policy.max_delay_ms);
}
