import QuickLRU from 'quick-lru';
import type { BoundedMap } from '../../application/identity/verdict-cache.ts';

/** A map of at most about `size` credentials; the least recently used go first. */
export function createCredentialCache<Value>(size: number): BoundedMap<Value> {
  return new QuickLRU<string, Value>({ maxSize: size });
}
