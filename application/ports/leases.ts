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
  /**
   * Asks the database whether no later holder has taken the lease. A process that was suspended can run on for a moment
   * after it lost the lease, before `signal` aborts. Rejects when the database cannot be asked.
   */
  isHeld(): Promise<boolean>;
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
