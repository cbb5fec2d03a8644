import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Whether two secrets are equal. Compares in constant time: the duration reveals neither where they differ nor their
 * lengths.
 */
export function equalSecrets(presented: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(presented), digest(expected));
}
