import { createHmac } from 'node:crypto';

/** Hashes a raw key. @returns hex */
export type KeyHasher = (rawKey: string) => string;

/**
 * Creates the hash function of API keys: HMAC-SHA256 under `API_KEY_PEPPER`, as hex. A slow hash is not needed, because
 * a key has 238 bits of entropy; every request hashes one.
 */
export function createKeyHasher({ pepper }: { readonly pepper: string }): KeyHasher {
  return (rawKey) => createHmac('sha256', pepper).update(rawKey).digest('hex');
}
