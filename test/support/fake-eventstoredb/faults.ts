/** Faults that the fake server simulates. A test may change them at any time. */
export type Faults = {
  /**
   * `silent`: never answers an append. `lost`: writes the events, then drops the call. The others: answer with that
   * error.
   */
  appends: 'none' | 'silent' | 'lost' | 'unavailable' | 'wrong_version' | 'access_denied' | 'timeout';
  /** Delay before each append, in milliseconds. */
  appendDelayMs: number;
  /** `silent`: never answers a read. The others: answer with that error. */
  reads: 'none' | 'silent' | 'unavailable' | 'access_denied';
  /** Subscriptions stay open and receive nothing more. */
  subscriptionsFrozen: boolean;
  /** Whether a subscription receives the message "caught up". Servers before 23.10 do not send it. */
  sendsCaughtUp: boolean;
  /** Omits the position in answers to appends, as a server may. */
  withoutPosition: boolean;
};

export function noFaults(): Faults {
  return {
    appends: 'none',
    appendDelayMs: 0,
    reads: 'none',
    subscriptionsFrozen: false,
    sendsCaughtUp: true,
    withoutPosition: false,
  };
}
