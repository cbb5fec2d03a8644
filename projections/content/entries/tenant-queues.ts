import { createKeyedMutex } from '../../../application/concurrency/keyed-mutex.ts';
import { refusal } from '../../../domain/errors.ts';

/** Runs work of each tenant one after another. */
export type TenantQueues = {
  /** @throws `past_not_ready` when too much work of the tenant runs or waits */
  run(tenant: string, work: () => Promise<void>): Promise<void>;
};

/** Creates the queues. At most `maxWaiting` pieces of work of a tenant run or wait. */
export function createTenantQueues({ maxWaiting }: { readonly maxWaiting: number }): TenantQueues {
  const mutex = createKeyedMutex();
  return {
    run(tenant, work) {
      if (mutex.count(tenant) >= maxWaiting)
        return Promise.reject(refusal('past_not_ready', { headers: { 'Retry-After': '2' } }));
      return mutex.run(tenant, work);
    },
  };
}
