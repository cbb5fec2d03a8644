import type { License } from '../../domain/platform/license.ts';

/**
 * Verifies a signed token with the public key of the license issuer, without network access.
 * @returns the license, even if it has ended; undefined when the signature or the claims are invalid
 */
export type VerifyLicense = (token: string) => Promise<License | undefined>;
