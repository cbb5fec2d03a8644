/** A call to count and the limit of its window. */
export type RateTake = {
  /**
   * Identifies one counter of the installation, such as `schema-mutations/<tenant>`. Stored as a keyed digest only, so
   * it may contain values that must not be stored in plain text.
   */
  readonly scope: string;
  /** Calls that one window allows; at least 1. */
  readonly limit: number;
  /** Length of a window in whole seconds. A window begins with the first call after the previous window has ended. */
  readonly windowSeconds: number;
};

export type RateTaken = {
  readonly allowed: boolean;
  /** Remaining calls in the window. */
  readonly remaining: number;
  /** Whole seconds until the window ends, at least 1; for `Retry-After`. */
  readonly retryAfter: number;
  /** End of the window. */
  readonly resetAt: Date;
};

/** Counts calls in fixed windows, shared by all processes of the installation. Uses the counter's own clock. */
export type RateCounters = {
  /** Counts one call atomically: concurrent calls never exceed the limit. A refused call is not counted. */
  take(request: RateTake): Promise<RateTaken>;
  /** Reverts a call that turned out not to count, if the window that ends at `resetAt` is still the current one. */
  refund(request: { readonly scope: string; readonly limit: number; readonly resetAt: Date }): Promise<void>;
  /** Resets the counter: the next call opens a new window. */
  clear(scope: string): Promise<void>;
};
