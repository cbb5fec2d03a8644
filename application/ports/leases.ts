/** A lease held by this process on a named duty; `epoch` fences every write made under it. */
export type Lease = {
  readonly name: string;
  /** Grows by one with every new owner. */
  readonly epoch: number;
  /** Aborted when the lease is lost or released. */
  readonly signal: AbortSignal;
  release(): Promise<void>;
};

/** Leases on duties that one process does at a time (projectors, relay); time is the database's clock. */
export type Leases = {
  /** Waits until the lease is ours. Renewed at a third of its time. Rejects with the signal's reason when that ends the wait. */
  acquire(name: string, signal: AbortSignal): Promise<Lease>;
  /** The duration of a lease in milliseconds: a dead owner is replaced within this time. */
  readonly ttlMs: number;
};
