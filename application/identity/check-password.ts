import { refusal } from '../../domain/errors.ts';
import type { PasswordPolicy } from '../../domain/identity/password-policy.ts';
import { passwordProblems } from '../../domain/identity/password-policy.ts';

/** @throws `weak_password` with the reasons in `fields` */
export function checkPassword(password: string, policy: PasswordPolicy): void {
  const fields = passwordProblems(password, policy);
  if (fields.length > 0) throw refusal('weak_password', { fields });
}
