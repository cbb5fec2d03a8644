import { refusal } from '../../domain/errors.ts';

/** Places for answers that last: each holds a connection and a subscription. */
export type StreamSlots = {
  /**
   * Takes a place. @returns what gives it back; calling it again does nothing
   * @throws `too_many_streams` where the tenant holds its share, `unavailable` where this process has none left
   */
  take(tenant: string): () => void;
};

const RETRY_AFTER = { 'Retry-After': '15' };

export function createStreamSlots({ perTenant = 100, perProcess = 500 }: { readonly perTenant?: number; readonly perProcess?: number } = {}): StreamSlots {
  const held = new Map<string, number>();
  let total = 0;
  return {
    take(tenant) {
      const ofTenant = held.get(tenant) ?? 0;
      if (ofTenant >= perTenant) throw refusal('too_many_streams', { headers: RETRY_AFTER });
      if (total >= perProcess) throw refusal('unavailable', { message: 'too many open streams', headers: RETRY_AFTER });
      held.set(tenant, ofTenant + 1);
      total += 1;
      let taken = true;
      return () => {
        if (!taken) return;
        taken = false;
        total -= 1;
        const left = (held.get(tenant) ?? 1) - 1;
        if (left === 0) held.delete(tenant);
        else held.set(tenant, left);
      };
    },
  };
}

/** The pieces of a stream that holds a place: it is given back when they end or are given back, also when they were never begun. */
export function releasing<T>(pieces: AsyncIterable<T>, release: () => void): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = pieces[Symbol.asyncIterator]();
      return {
        async next() {
          try {
            const next = await iterator.next();
            if (next.done === true) release();
            return next;
          } catch (error) {
            release();
            throw error;
          }
        },
        async return() {
          release();
          await iterator.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
