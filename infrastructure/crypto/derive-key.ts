import { hkdfSync } from 'node:crypto';

const SALT = 'palimpsest';

/** A 256-bit key for one purpose out of `ENCRYPTION_KEY` (HKDF-SHA256); keys of different purposes tell nothing of each other. */
export function deriveKey(encryptionKey: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', encryptionKey, SALT, purpose, 32));
}
