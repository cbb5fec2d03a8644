/** What the fake server is told to do wrong; each may be switched at any time. */
export type Faults = {
  /** `silent`: takes appends and never answers; `lost`: writes, then drops the call instead of answering; `unavailable`: refuses. */
  appends: 'none' | 'silent' | 'lost' | 'unavailable' | 'wrong_version' | 'access_denied' | 'timeout';
  /** Delay before every answer to an append. */
  appendDelayMs: number;
  /** `silent`: takes reads and never answers; `unavailable` and `access_denied`: refuses. */
  reads: 'none' | 'silent' | 'unavailable' | 'access_denied';
  /** Subscriptions stay open and say nothing more. */
  subscriptionsFrozen: boolean;
  /** Servers before 23.10 don't say that a subscription has caught up. */
  saysCaughtUp: boolean;
  /** Answers appends without their position, as servers may. */
  withoutPosition: boolean;
};

export function noFaults(): Faults {
  return { appends: 'none', appendDelayMs: 0, reads: 'none', subscriptionsFrozen: false, saysCaughtUp: true, withoutPosition: false };
}
