import { type KeyObject, createPrivateKey } from 'node:crypto';

/** Header of an Ed25519 private key in PKCS #8 (RFC 8410); the 32 raw bytes follow it. */
const PKCS8_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Makes an Ed25519 private key from its 32 raw bytes. @throws Error for any other length */
export function ed25519PrivateKey(raw: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_HEADER, raw]), format: 'der', type: 'pkcs8' });
}
