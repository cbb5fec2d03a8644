import { compactVerify, importJWK } from 'jose';
import type { VerifyLicense } from '../../application/ports/license-verifier.ts';
import { parseLicenseClaims } from '../../domain/platform/license.ts';

/** Longest token in characters; longer ones are rejected without verification. */
const MAX_TOKEN = 16_384;

/**
 * Creates the license verifier. It accepts EdDSA signatures only.
 * @param options `publicKey`: base64url of the 32 raw bytes of the Ed25519 key
 */
export async function createLicenseVerifier({ publicKey }: { readonly publicKey: string }): Promise<VerifyLicense> {
  const key = await importJWK({ kty: 'OKP', crv: 'Ed25519', x: publicKey }, 'EdDSA');
  return async (token) => {
    if (token.length > MAX_TOKEN) return undefined;
    const verified = await compactVerify(token, key, { algorithms: ['EdDSA'] }).catch(() => undefined);
    const claims = verified && parseObject(new TextDecoder().decode(verified.payload));
    return claims && parseLicenseClaims(claims);
  };
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
}
