import { SignJWT } from 'jose';
import { LICENSE_ISSUER, type License } from '../../domain/platform/license.ts';
import { ed25519PrivateKey } from '../crypto/ed25519-private-key.ts';

export type IssueLicenseOptions = Omit<License, 'plan'> & {
  readonly plan?: string;
  /** base64url of the 32 raw bytes of the Ed25519 private key. */
  readonly privateKey: string;
};

/** Signs a license token. @throws Error when the private key is not valid */
export async function issueLicense({
  privateKey,
  subject,
  issuedAt,
  expiresAt,
  capabilities,
  plan,
  links,
}: IssueLicenseOptions): Promise<string> {
  const key = ed25519PrivateKey(Buffer.from(privateKey, 'base64url'));
  return new SignJWT({
    capabilities: [...capabilities],
    ...(plan === undefined ? {} : { plan }),
    ...(Object.keys(links).length === 0 ? {} : { links }),
  })
    .setProtectedHeader({ alg: 'EdDSA' })
    .setIssuer(LICENSE_ISSUER)
    .setSubject(subject)
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt)
    .sign(key);
}
