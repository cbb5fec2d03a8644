/** Shares the connections of a pool among tenants, so that the requests of one tenant do not use all of them. */
export type TenantShares = {
  /**
   * Takes a connection from the tenant's share.
   * @returns a promise when the share is in use. It settles when a connection is given back, and fails when none is
   * given back in time.
   */
  take(tenant: string): Promise<void> | undefined;
  /** Gives a connection back. The request of the tenant that has waited longest gets it. */
  release(tenant: string): void;
};

/** Creates the shares of one pool. `waitMs`: maximum time that a request waits; undefined: no limit. */
export function createTenantShares({
  perTenant,
  waitMs,
}: {
  readonly perTenant: number;
  readonly waitMs?: number | undefined;
}): TenantShares {
  const tenants = new Map<string, { used: number; readonly waiting: Set<() => void> }>();
  return {
    take(tenant) {
      let share = tenants.get(tenant);
      if (!share) tenants.set(tenant, (share = { used: 0, waiting: new Set() }));
      if (share.used < perTenant) {
        share.used += 1;
        return undefined;
      }
      const { waiting } = share;
      return new Promise((resolve, reject) => {
        const late = (): void => {
          waiting.delete(taken);
          // The text of the pool's own error, which callers know as transient.
          reject(new Error('timeout exceeded when trying to connect'));
        };
        const timer = waitMs === undefined ? undefined : setTimeout(late, waitMs);
        const taken = (): void => {
          clearTimeout(timer);
          resolve();
        };
        waiting.add(taken);
      });
    },
    release(tenant) {
      const share = tenants.get(tenant);
      if (!share) return;
      const [next] = share.waiting;
      if (next) {
        share.waiting.delete(next);
        next();
        return;
      }
      share.used -= 1;
      if (share.used === 0) tenants.delete(tenant);
    },
  };
}
