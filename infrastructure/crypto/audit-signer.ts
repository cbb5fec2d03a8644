import { CompactSign, type JWK, calculateJwkThumbprint, compactVerify, exportJWK } from 'jose';
import { createPublicKey, hkdfSync } from 'node:crypto';
import type { AuditSigner } from '../../application/ports/audit-chain.ts';
import type { SignedRange } from '../../domain/platform/audit-events.ts';
import { ed25519PrivateKey } from './ed25519-private-key.ts';

/** Header `typ` of an audit signature. It keeps session tokens and audit signatures apart. */
const TYPE = 'palimpsest-audit-seal+jws';

export type PublishedAuditSigner = AuditSigner & { readonly publicKey: JWK };

/**
 * Creates the signer of audit signatures. Its Ed25519 key is derived from the audit key, so all processes sign with the
 * same key and no further key is stored. Auditors verify signatures with `publicKey`.
 */
export async function createAuditSigner({ key }: { readonly key: Uint8Array }): Promise<PublishedAuditSigner> {
  const seed = Buffer.from(hkdfSync('sha256', key, 'palimpsest', 'audit seals', 32));
  const privateKey = ed25519PrivateKey(seed);
  const publicKey = createPublicKey(privateKey);
  const jwk = await exportJWK(publicKey);
  const kid = `audit-${(await calculateJwkThumbprint(jwk)).slice(0, 16)}`;
  return {
    publicKey: { ...jwk, kid, alg: 'EdDSA', use: 'sig' },
    sign: (range, at) =>
      new CompactSign(
        new TextEncoder().encode(
          JSON.stringify({ iss: 'palimpsest-audit', iat: Math.floor(at.getTime() / 1000), ...range }),
        ),
      )
        .setProtectedHeader({ alg: 'EdDSA', kid, typ: TYPE })
        .sign(privateKey),
    async verify(jws) {
      try {
        const { payload, protectedHeader } = await compactVerify(jws, publicKey, { algorithms: ['EdDSA'] });
        if (protectedHeader.typ !== TYPE) return undefined;
        // The signature is valid, so the payload was made by `sign`.
        return JSON.parse(new TextDecoder().decode(payload)) as SignedRange;
      } catch {
        return undefined;
      }
    },
  };
}
