import type { License } from '../../domain/platform/license.ts';

/**
 * Checks a signed token against the license key, on this machine alone (spec 1, license).
 * @returns the license, also one that has ended; undefined when the signature or the claims are wrong
 */
export type VerifyLicense = (token: string) => Promise<License | undefined>;
