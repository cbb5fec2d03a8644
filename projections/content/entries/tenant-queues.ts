import { refusal } from '../../../domain/errors.ts';

/** Runs work of each tenant one after another. */
export type TenantQueues = {
  /** @throws `past_not_ready` when too much work of the tenant runs or waits */
  run(tenant: string, work: () => Promise<void>): Promise<void>;
};

/** Creates the queues. At most `maxWaiting` pieces of work of a tenant run or wait. */
export function createTenantQueues({ maxWaiting }: { readonly maxWaiting: number }): TenantQueues {
  const queues = new Map<string, { last: Promise<void>; waiting: number }>();
  return {
    run(tenant, work) {
      const queue = queues.get(tenant) ?? { last: Promise.resolve(), waiting: 0 };
      if (queue.waiting >= maxWaiting)
        return Promise.reject(refusal('past_not_ready', { headers: { 'Retry-After': '2' } }));
      queues.set(tenant, queue);
      queue.waiting += 1;
      const result = queue.last.then(work);
      queue.last = result
        .catch(() => undefined)
        .finally(() => {
          queue.waiting -= 1;
          if (queue.waiting === 0) queues.delete(tenant);
        });
      return result;
    },
  };
}
