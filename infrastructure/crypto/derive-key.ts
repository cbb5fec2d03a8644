import { hkdfSync } from 'node:crypto';

const SALT = 'palimpsest';

/**
 * Derives a 256-bit key for a purpose from `ENCRYPTION_KEY` (HKDF-SHA256). A derived key reveals nothing about the keys
 * of other purposes.
 */
export function deriveKey(encryptionKey: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', encryptionKey, SALT, purpose, 32));
}
