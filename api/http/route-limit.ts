import QuickLRU from 'quick-lru';
import { refusal } from '../../domain/errors.ts';

/** A token bucket that holds `burst` calls and refills by `perSecond` calls a second. */
export type RouteLimit = { readonly perSecond: number; readonly burst: number };

export type RouteLimiter = {
  /**
   * Takes one call of the address.
   * @throws `rate_limited` with `remaining`, `limit`, `reset_at` and `Retry-After` (seconds) when its bucket is empty
   */
  take(address: string, now: Date): void;
};

type Bucket = { calls: number; filledAtMs: number };

/** Buckets kept for a route. The least recently used are dropped; their addresses start again with a full bucket. */
const ADDRESSES = 20_000;

/** Creates the limiter of one route: one bucket per client address, counted in this process only. */
export function createRouteLimiter({ perSecond, burst }: RouteLimit): RouteLimiter {
  const buckets = new QuickLRU<string, Bucket>({ maxSize: ADDRESSES });
  return {
    take(address, now) {
      const nowMs = now.getTime();
      const bucket = buckets.get(address) ?? { calls: burst, filledAtMs: nowMs };
      // A clock that was set back refills nothing.
      const calls = Math.min(burst, bucket.calls + (Math.max(nowMs - bucket.filledAtMs, 0) / 1000) * perSecond);
      if (calls >= 1) {
        buckets.set(address, { calls: calls - 1, filledAtMs: nowMs });
        return;
      }
      const waitMs = Math.ceil(((1 - calls) / perSecond) * 1000);
      throw refusal('rate_limited', {
        body: { remaining: 0, limit: burst, reset_at: new Date(nowMs + waitMs).toISOString() },
        headers: { 'Retry-After': String(Math.ceil(waitMs / 1000)) },
      });
    },
  };
}
