import { createHmac } from 'node:crypto';

/**
 * Creates the hash function of API keys: HMAC-SHA256 under `API_KEY_PEPPER`, as hex. A slow hash is not needed, because
 * a key has 238 bits of entropy; every request hashes one.
 */
export function createKeyHasher(pepper: string): (rawKey: string) => string {
  return (rawKey) => createHmac('sha256', pepper).update(rawKey).digest('hex');
}
