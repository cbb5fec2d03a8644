import { createHmac } from 'node:crypto';

/** HMAC-SHA256 of API keys under `API_KEY_PEPPER`, as hex: fast on purpose, a key has 238 bits of chance (rule 14). */
export function createKeyHasher(pepper: string): (rawKey: string) => string {
  return (rawKey) => createHmac('sha256', pepper).update(rawKey).digest('hex');
}
