import type { FieldError } from '../errors.ts';

/** What a new password must meet (spec 1, session rules; spec 4 A, sign-in details). */
export type PasswordPolicy = {
  /** `PASSWORD_MIN_LENGTH`, in characters. */
  readonly minLength: number;
  /** `PASSWORD_REQUIRE_COMPLEXITY`: upper-case, lower-case, digit. */
  readonly requireComplexity: boolean;
  /** Most bytes that the hash looks at (bcrypt: 72); undefined when it looks at all of them. */
  readonly maxBytes?: number | undefined;
  /** `PASSWORD_CHECK_COMMON`: whether a password is on the list of common ones; undefined leaves the check out. */
  readonly isCommon?: ((password: string) => boolean) | undefined;
};

/** Longest password there may be, in characters. */
export const MAX_PASSWORD_LENGTH = 128;

/** Why a password does not meet the policy; empty when it does. Messages never repeat the password. */
export function passwordProblems(password: string, policy: PasswordPolicy): readonly FieldError[] {
  const problems: string[] = [];
  const length = Array.from(password).length;
  if (length < policy.minLength) problems.push(`must hold at least ${policy.minLength} characters`);
  if (length > MAX_PASSWORD_LENGTH) problems.push(`must hold at most ${MAX_PASSWORD_LENGTH} characters`);
  if (policy.maxBytes !== undefined && new TextEncoder().encode(password).length > policy.maxBytes) {
    problems.push(`must hold at most ${policy.maxBytes} bytes`);
  }
  // bcrypt stops at a zero byte.
  if (password.includes('\u0000')) problems.push('must not hold a zero character');
  if (policy.requireComplexity) {
    if (!/\p{Lu}/u.test(password)) problems.push('must hold an upper-case letter');
    if (!/\p{Ll}/u.test(password)) problems.push('must hold a lower-case letter');
    if (!/\p{Nd}/u.test(password)) problems.push('must hold a digit');
  }
  if (policy.isCommon?.(password) === true) problems.push('is a common password');
  return problems.map((message) => ({ field: 'password', message }));
}
