import { refusal } from '../../domain/errors.ts';
import type { PasswordPolicy } from '../../domain/identity/password-policy.ts';
import { passwordProblems } from '../../domain/identity/password-policy.ts';

/** @throws `weak_password` with the reasons in `fields`, under the name that the body has for it */
export function checkPassword(password: string, policy: PasswordPolicy, field = 'password'): void {
  const fields = passwordProblems(password, policy).map(({ message }) => ({ field, message }));
  if (fields.length > 0) throw refusal('weak_password', { fields });
}
