import { refusal } from '../../domain/errors.ts';

/** Limits the number of endless responses: each one holds a connection and a subscription. */
export type StreamSlots = {
  /**
   * Takes a slot. @returns the function that releases it; a second call does nothing
   * @throws `too_many_streams` when the tenant uses all of its slots; `unavailable` when this process has no slot left
   */
  take(tenant: string): () => void;
};

const RETRY_AFTER = { 'Retry-After': '15' };

/** Creates the slots of one process. */
export function createStreamSlots({
  perTenant = 100,
  perProcess = 500,
}: { readonly perTenant?: number; readonly perProcess?: number } = {}): StreamSlots {
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

/**
 * Wraps a stream that holds a slot: releases the slot when the stream ends, fails or is closed, also before its first
 * piece.
 */
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
