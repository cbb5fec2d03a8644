import pg from 'pg';
import { createTenantShares } from './tenant-shares.ts';
import { currentTenant } from './work-class.ts';

/** A connection of a pool. `release` closes it when it is broken. */
export type CheckedOutClient = {
  readonly client: pg.PoolClient;
  readonly release: (broken: Error | undefined) => void;
};

/** Part of the connections that the requests of one tenant may use at the same time. The others stay free. */
const TENANT_SHARE = 0.8;

/** Returns a function that takes a connection from the pool, for requests within the share of their tenant. */
export function createCheckout(
  pool: pg.Pool,
  {
    max,
    connectionTimeoutMillis: waitMs,
  }: { readonly max: number; readonly connectionTimeoutMillis?: number | undefined },
): () => Promise<CheckedOutClient> {
  const shares = createTenantShares({ perTenant: Math.max(1, Math.floor(max * TENANT_SHARE)), waitMs });
  return async () => {
    const tenant = currentTenant();
    if (tenant === undefined) {
      const client = await pool.connect();
      return {
        client,
        release: (broken) => {
          client.release(broken);
        },
      };
    }
    const waits = shares.take(tenant);
    if (waits) await waits;
    try {
      const client = await pool.connect();
      return {
        client,
        release(broken) {
          client.release(broken);
          shares.release(tenant);
        },
      };
    } catch (error) {
      shares.release(tenant);
      throw error;
    }
  };
}

/** The error, when the connection cannot be used after it. An error of a statement leaves the connection usable. */
export function lossOf(error: unknown): Error | undefined {
  if (error instanceof pg.DatabaseError && error.severity === 'ERROR') return undefined;
  return error instanceof Error ? error : new Error(String(error));
}
