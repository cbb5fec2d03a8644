import type { SealedValue } from './user-events.ts';

/** The second factor of an account: the secret of its authenticator, and digests of the recovery codes that are left (spec 4 A, MFA). */
export type SecondFactor = { readonly secret: SealedValue; readonly recoveryCodes: readonly string[] };

/** What finishes a sign-in that asks for a second factor (`mfa_methods`). */
export const MFA_METHODS = ['totp', 'recovery_code'] as const;

export type MfaMethod = (typeof MFA_METHODS)[number];

/** Recovery codes that an account gets. */
export const RECOVERY_CODES = 10;

/** A code of an authenticator: 6 digits, in groups or not. @returns undefined when it has another form */
export function totpCode(text: string): string | undefined {
  const code = text.replace(/[\s-]/g, '');
  return /^\d{6}$/.test(code) ? code : undefined;
}

/** A recovery code as it is compared: without spaces and hyphens, lower-case. @returns undefined when it has another form */
export function recoveryCode(text: string): string | undefined {
  const code = text.replace(/[\s-]/g, '').toLowerCase();
  return /^[0-9a-z]{20}$/.test(code) ? code : undefined;
}
