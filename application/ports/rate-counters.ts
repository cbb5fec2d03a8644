/** What is counted, and how much of it a window allows. */
export type RateTake = {
  /** Names one counter of the install, such as `schema-mutations/<tenant>`. Stored as a keyed digest only, so it may hold what must not lie in clear. */
  readonly scope: string;
  /** Calls that one window allows, at least 1. */
  readonly limit: number;
  /** Length of a window in whole seconds. It begins with the first call after the one before has ended. */
  readonly windowSeconds: number;
};

export type RateTaken = {
  readonly allowed: boolean;
  /** Calls that the window still allows. */
  readonly remaining: number;
  /** Whole seconds until the window ends, at least 1: for `Retry-After`. */
  readonly retryAfter: number;
  /** When the window ends. */
  readonly resetAt: Date;
};

/** Counts calls in fixed windows, shared by every process of the install; the time is the counter's own clock. */
export type RateCounters = {
  /** Takes one call, at once and for all: of calls that come together no more are allowed than the limit says. A refused call costs nothing. */
  take(request: RateTake): Promise<RateTaken>;
  /** Gives one back that turned out not to count, in the window that ends at `resetAt`; in a later one it does nothing. */
  giveBack(request: { readonly scope: string; readonly limit: number; readonly resetAt: Date }): Promise<void>;
  /** Begins anew: the next call opens a window. */
  clear(scope: string): Promise<void>;
};
