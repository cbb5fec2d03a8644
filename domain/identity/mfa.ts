import type { SealedValue } from '../sealed-value.ts';

/** The second factor of an account: the authenticator's sealed secret, and the digests of the unused recovery codes. */
export type SecondFactor = { readonly secret: SealedValue; readonly recoveryCodes: readonly string[] };

/** Methods that complete a sign-in with a second factor (`mfa_methods`). */
export const MFA_METHODS = ['totp', 'recovery_code'] as const;

export type MfaMethod = (typeof MFA_METHODS)[number];

/** Number of recovery codes that an account gets. */
export const RECOVERY_CODES = 10;

/** Normalises an authenticator code: 6 digits; spaces and hyphens are ignored. @returns undefined for any other form */
export function totpCode(text: string): string | undefined {
  const code = text.replace(/[\s-]/g, '');
  return /^\d{6}$/.test(code) ? code : undefined;
}

/**
 * Normalises a recovery code: 20 lower-case letters and digits; spaces, hyphens and case are ignored.
 * @returns undefined for any other form
 */
export function recoveryCode(text: string): string | undefined {
  const code = text.replace(/[\s-]/g, '').toLowerCase();
  return /^[0-9a-z]{20}$/.test(code) ? code : undefined;
}
