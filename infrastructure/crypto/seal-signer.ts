import { createPrivateKey, createPublicKey, hkdfSync } from 'node:crypto';
import type { JWK } from 'jose';
import { calculateJwkThumbprint, CompactSign, compactVerify, exportJWK } from 'jose';
import type { SealSigner } from '../../application/ports/audit-chain.ts';
import type { SealedStretch } from '../../domain/platform/audit-events.ts';

/** What the header of a seal says it is: no token of a session passes for one, nor the other way. */
const TYPE = 'palimpsest-audit-seal+jws';
/** What stands before the 32 bytes of an Ed25519 key in PKCS #8. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * Signs seals with an Ed25519 key made from the audit key, so that every replica signs alike and nothing more is to be kept.
 * `publicKey` is what auditors verify with.
 */
export async function createSealSigner(key: Uint8Array): Promise<SealSigner & { readonly publicKey: JWK }> {
  const seed = Buffer.from(hkdfSync('sha256', key, 'palimpsest', 'audit seals', 32));
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey);
  const jwk = await exportJWK(publicKey);
  const kid = `audit-${(await calculateJwkThumbprint(jwk)).slice(0, 16)}`;
  return {
    publicKey: { ...jwk, kid, alg: 'EdDSA', use: 'sig' },
    sign: (stretch, at) =>
      new CompactSign(new TextEncoder().encode(JSON.stringify({ iss: 'palimpsest-audit', iat: Math.floor(at.getTime() / 1000), ...stretch })))
        .setProtectedHeader({ alg: 'EdDSA', kid, typ: TYPE })
        .sign(privateKey),
    async verify(jws) {
      try {
        const { payload, protectedHeader } = await compactVerify(jws, publicKey, { algorithms: ['EdDSA'] });
        if (protectedHeader.typ !== TYPE) return undefined;
        // Signed by ourselves, so it has the shape that `sign` gave it.
        return JSON.parse(new TextDecoder().decode(payload)) as SealedStretch;
      } catch {
        return undefined;
      }
    },
  };
}
