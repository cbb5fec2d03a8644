import { refusal } from '../../domain/errors.ts';
import { passwordProblems } from '../../domain/identity/password-policy.ts';
import type { PasswordDependencies } from './account-dependencies.ts';

/**
 * Checks a new password against the policy.
 * @param input `field` is the name of the password in the request body.
 * @throws `weak_password` with the reasons in `fields`
 */
export function checkPasswordPolicy(
  { password, field = 'password' }: { readonly password: string; readonly field?: string },
  { passwordPolicy }: Pick<PasswordDependencies, 'passwordPolicy'>,
): void {
  const fields = passwordProblems(password, passwordPolicy).map(({ message }) => ({ field, message }));
  if (fields.length > 0) throw refusal('weak_password', { fields });
}
