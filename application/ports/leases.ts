/**
 * A named lease, held by this process. Writes made under the lease carry its `epoch`, so that a former holder cannot
 * write.
 */
export type Lease = {
  readonly name: string;
  /** Increases by one with each new holder. */
  readonly epoch: number;
  /** Aborts when the lease is lost or released. */
  readonly signal: AbortSignal;
  release(): Promise<void>;
};

/**
 * Leases for work that one process at a time performs, such as projectors and the relay. Times use the database's
 * clock.
 */
export type Leases = {
  /**
   * Waits until this process holds the lease, then renews it after each third of the TTL. Rejects with the signal's
   * reason when the signal aborts the wait.
   */
  acquire(name: string, signal: AbortSignal): Promise<Lease>;
  /** The TTL of a lease in milliseconds: the maximum time until the lease of a crashed holder is taken over. */
  readonly ttlMs: number;
};
