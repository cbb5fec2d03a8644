import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Sealed } from '../../application/ports/vault.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Seals text with AES-256-GCM; `purpose` is bound in as additional data. */
export function seal(key: Buffer, keyId: string, purpose: string, clear: string): Sealed {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(purpose));
  const text = Buffer.concat([cipher.update(clear, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return { $sealed: 1, k: keyId, n: nonce.toString('base64url'), c: text.toString('base64url') };
}

/** @throws Error when it was altered, belongs to another purpose or another key. The message tells nothing of the content. */
export function open(key: Buffer, purpose: string, sealed: Sealed): string {
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
