import QuickLRU from 'quick-lru';
import type { BoundedMap } from '../../application/identity/credential-cache.ts';

/** Creates a map of about `size` entries at most; the least recently used entries are evicted first. */
export function createLruCache<Value>({ size }: { readonly size: number }): BoundedMap<Value> {
  return new QuickLRU<string, Value>({ maxSize: size });
}
