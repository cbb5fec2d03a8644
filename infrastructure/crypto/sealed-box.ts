import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { SealedValue } from '../../domain/sealed-value.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** An AES-256 key. `id` is stored with the sealed value. */
type Key = { readonly id: string; readonly bytes: Buffer };

/** Seals text with AES-256-GCM. The purpose is authenticated: the value can be opened under the same purpose only. */
export function seal(
  plainText: string,
  { key, purpose }: { readonly key: Key; readonly purpose: string },
): SealedValue {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key.bytes, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(purpose));
  const sealed = Buffer.concat([cipher.update(plainText, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return { $sealed: 1, k: key.id, n: nonce.toString('base64url'), c: sealed.toString('base64url') };
}

/**
 * Opens a sealed value.
 * @throws Error when it was altered, or sealed under another key or purpose. The message reveals nothing about the
 * content.
 */
export function open(
  sealed: SealedValue,
  { key, purpose }: { readonly key: Buffer; readonly purpose: string },
): string {
  const nonce = Buffer.from(sealed.n, 'base64url');
  const text = Buffer.from(sealed.c, 'base64url');
  if (nonce.length !== NONCE_BYTES || text.length < TAG_BYTES) throw new Error('a sealed value is malformed');
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(purpose));
  decipher.setAuthTag(text.subarray(text.length - TAG_BYTES));
  try {
    return decipher.update(text.subarray(0, text.length - TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  } catch (cause) {
    throw new Error('a sealed value does not open: it was altered, or sealed under another key or purpose', { cause });
  }
}
