import type { FieldError } from '../errors.ts';

/** Requirements for new passwords. */
export type PasswordPolicy = {
  /** `PASSWORD_MIN_LENGTH`, in characters. */
  readonly minLength: number;
  /** `PASSWORD_REQUIRE_COMPLEXITY`: an upper-case letter, a lower-case letter and a digit. */
  readonly requireComplexity: boolean;
  /** Number of bytes that the hash algorithm uses (bcrypt: 72); undefined when it uses all. */
  readonly maxBytes?: number | undefined;
  /** Whether a password is on the list of common passwords; undefined without `PASSWORD_CHECK_COMMON`. */
  readonly isCommon?: ((password: string) => boolean) | undefined;
};

/** Maximum length of a password, in characters. */
export const MAX_PASSWORD_LENGTH = 128;

/** The requirements that a password does not meet. Messages never contain the password. */
export function passwordProblems(password: string, policy: PasswordPolicy): readonly FieldError[] {
  const problems: string[] = [];
  const length = Array.from(password).length;
  if (length < policy.minLength) problems.push(`must have at least ${policy.minLength} characters`);
  if (length > MAX_PASSWORD_LENGTH) problems.push(`must have at most ${MAX_PASSWORD_LENGTH} characters`);
  if (policy.maxBytes !== undefined && new TextEncoder().encode(password).length > policy.maxBytes) {
    problems.push(`must have at most ${policy.maxBytes} bytes`);
  }
  // bcrypt ignores everything after a zero byte.
  if (password.includes('\u0000')) problems.push('must not contain a zero character');
  if (policy.requireComplexity) {
    if (!/\p{Lu}/u.test(password)) problems.push('must contain an upper-case letter');
    if (!/\p{Ll}/u.test(password)) problems.push('must contain a lower-case letter');
    if (!/\p{Nd}/u.test(password)) problems.push('must contain a digit');
  }
  if (policy.isCommon?.(password) === true) problems.push('is a common password');
  return problems.map((message) => ({ field: 'password', message }));
}
