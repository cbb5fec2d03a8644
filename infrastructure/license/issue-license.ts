import { createPrivateKey } from 'node:crypto';
import { SignJWT } from 'jose';
import type { License } from '../../domain/platform/license.ts';
import { LICENSE_ISSUER } from '../../domain/platform/license.ts';

export type IssueLicenseOptions = Omit<License, 'plan'> & {
  readonly plan?: string;
  /** base64url of the 32 raw bytes of the Ed25519 private key. */
  readonly privateKey: string;
};

/** What stands before the raw key in PKCS #8 (RFC 8410). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Signs a license (spec 4 A, license). @throws Error when the key is none */
export async function issueLicense({ privateKey, subject, issuedAt, expiresAt, capabilities, plan, links }: IssueLicenseOptions): Promise<string> {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, Buffer.from(privateKey, 'base64url')]), format: 'der', type: 'pkcs8' });
  return new SignJWT({ capabilities: [...capabilities], ...(plan === undefined ? {} : { plan }), ...(Object.keys(links).length === 0 ? {} : { links }) })
    .setProtectedHeader({ alg: 'EdDSA' })
    .setIssuer(LICENSE_ISSUER)
    .setSubject(subject)
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt)
    .sign(key);
}
